"""Which views are pages, and what stands at every path: `router` finds the page or the file of data. Each
other module says what stands at some of the paths, as blocks or bytes. It imports the ground of this room
(`reading`, `addresses`, `rendering`) and all that is below `site`."""
