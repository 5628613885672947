"""The live server: routes, pages kept and renewed, the stream of events, copies to download. It imports every
other folder of this room but `export`."""
