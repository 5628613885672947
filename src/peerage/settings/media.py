"""Pictures and sounds that settings name: the door through which they come in, and the folder of their bytes.

    media: {bytes: 20000000, pixels: 40000000, seconds: 300}

A picture is decoded, turned as its camera says, and encoded anew, so that neither metadata nor what else
stands in the file comes along; of a sound its frames or samples alone. What is encoded stays in the arena's
folder, in `media`, so that nobody decodes it twice; that folder may be deleted.
"""

from __future__ import annotations

import os
import re
import warnings
import wave
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec
from pydantic import Field

from peerage.game.media import MOST, SUFFIXES, Media, MediaType, Opener
from peerage.game.section import SettingsSection
from peerage.values.inputs import InputRefused, check, read_bytes, real
from peerage.values.outputs import Folder, OutputRefused
from peerage.values.system_errors import reason
from peerage.values.texts import storable


class MediaSettings(SettingsSection):
    """Bounds of each picture and each sound in what the arena's owner writes."""

    bytes: int = Field(20_000_000, ge=1_000, le=1 << 28, description="Bytes, as it comes and as it is sent.")
    pixels: int = Field(40_000_000, ge=1, le=89_000_000, description="Pixels of a picture: width by height.")
    seconds: float = Field(300.0, gt=0, le=86_400, description="Seconds of a sound.")


class _FileForm(NamedTuple):
    """A form of files: how one begins, what its name or a data URL calls it, and what it is made to be."""

    begins: bytes
    called: str
    made: MediaType


_FORMS = {
    "PNG": _FileForm(rb"\x89PNG\r\n\x1a\n", "png apng", "image/png"),
    "JPEG": _FileForm(rb"\xff\xd8\xff", "jpg jpeg jpe jfif", "image/jpeg"),
    "GIF": _FileForm(rb"GIF8[79]a", "gif", "image/png"),
    "WEBP": _FileForm(rb"RIFF.{4}WEBP", "webp", "image/png"),
    "WAV": _FileForm(rb"RIFF.{4}WAVE", "wav wave vnd.wave", "audio/wav"),
    "MP3": _FileForm(rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]", "mp3 mpeg mpga", "audio/mpeg"),
}
EXPECTED = "expected PNG, JPEG, WebP, GIF, WAV or MP3"


def admitted(body: bytes, bounds: MediaSettings, said: str = "") -> tuple[Media, bytes]:
    """Return a picture or a sound as it is sent, with what stands for it. `said` is the form that it came
    under, if any, such as `png`. Raises ValueError for what is none, is another than it says or is too
    much."""
    if len(body) > bounds.bytes:
        raise ValueError(f"{len(body):,} bytes, and at most {bounds.bytes:,} are taken; see `media: bytes`")
    form = next((name for name, one in _FORMS.items() if re.match(one.begins, body[:16], re.DOTALL)), "")
    if not form:
        raise ValueError(
            f"no picture or sound that is known, but begins with {body[:12].decode('latin-1')!r}; {EXPECTED}"
        )
    if said and said.lower().removeprefix("x-") not in _FORMS[form].called.split():
        raise ValueError(f"called {said!r:.20} and holds {form}; name it as what it is")
    kind, width, height, seconds = _FORMS[form].made, 0, 0, 0.0
    if kind.startswith("image"):
        made, width, height = _picture(body, form, bounds.pixels)
    else:
        made, seconds = _wav(body) if form == "WAV" else _mp3(body)
    if seconds > bounds.seconds:
        raise ValueError(f"{seconds:,.0f} s, and at most {bounds.seconds:,g} are taken; see `media: seconds`")
    if len(made) > bounds.bytes:
        smaller = "save a photo as JPEG" if kind == "image/png" else "save it smaller"
        raise ValueError(f"{len(made):,} bytes as {kind}, more than `media: bytes`; {smaller}")
    return Media(sha256(made).hexdigest(), kind, len(made), width, height, round(seconds, 3)), made


def _picture(body: bytes, form: str, most: int) -> tuple[bytes, int, int]:
    """The first frame of a picture, encoded anew, with its width and height. Raises ValueError."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    size = "far too many"
    if form == "JPEG" and len(_PASSES.findall(body)) > MOST_PASSES:
        raise ValueError(f"a damaged JPEG (more than {MOST_PASSES} scans, or notes of a camera)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a bomb, which its pixels tell, and of odd metadata
            with Image.open(BytesIO(body), formats=[form]) as opened:
                size = f"{opened.width:,} × {opened.height:,}"
                if 0 < opened.width * opened.height <= most:
                    opened.load()
                    image: Image.Image = opened
                    with suppress(Exception):  # what a camera says may be damaged where its picture is not
                        image = ImageOps.exif_transpose(opened)
                    if image.mode.startswith("I"):  # 16 bits, of which the upper ones are seen
                        image = image.convert("I").point(lambda value: value * (1 / 257)).convert("L")
                    plain = image.convert("RGBA" if image.has_transparency_data else "RGB")
                    plain.info = {}
                    out = BytesIO()
                    if form == "JPEG":
                        plain.save(out, form, **_as_saved(opened))
                    else:
                        plain.save(out, "PNG", compress_level=3)
                    return out.getvalue(), *plain.size
    except Image.DecompressionBombError:
        pass
    except Exception as error:  # a decoder of what is hostile may raise anything
        why = "no header that can be read" if isinstance(error, UnidentifiedImageError) else str(error)
        raise ValueError(f"a damaged {form} ({why:.100})") from None
    raise ValueError(f"{size} pixels, and 1 to {most:,} in all are taken; see `media: pixels`")


MOST_PASSES = 200
_PASSES = re.compile(rb"\xff\xda\0(?:\x08\x01|\x0a\x02|\x0c\x03|\x0e\x04)|\xff\xe1..Exif\0\0", re.DOTALL)
"""Beginnings of a scan and of a camera's notes in a JPEG: a small file may hold as many as take hours."""


def _as_saved(jpeg: Any) -> dict[str, int]:
    """The quality and sampling of colors with which a JPEG was saved, so that it neither grows nor loses much
    when it is saved again: the quality is that at which the standard table has its mean."""
    from PIL.JpegImagePlugin import get_sampling

    times = sum(next(iter(jpeg.quantization.values()))) / _AT_50
    quality = round(100 - 50 * times if times < 1 else 50 / times)
    return {"quality": min(max(quality, 1), 95), "subsampling": get_sampling(jpeg)}


_AT_50 = 3_688
"""Sum of the standard table for brightness, which quality 50 is."""


def _wav(body: bytes) -> tuple[bytes, float]:
    """The samples of a WAV file under a header of their own, and how many seconds they last."""
    out = BytesIO()
    try:
        with wave.Wave_read(BytesIO(body)) as sound, wave.Wave_write(out) as made:
            stated = sound.getparams()
            samples = sound.readframes(stated.nframes)
            lacking = stated.nframes * stated.nchannels * stated.sampwidth - len(samples)
            made.setparams(stated._replace(nframes=0))
            made.writeframes(samples)
            seconds = stated.nframes / stated.framerate
    except Exception as error:  # as above
        raise ValueError(
            f"a damaged WAV, or other than PCM ({error!s:.100}); save it as 16-bit PCM"
        ) from None
    if lacking or not samples:
        raise ValueError("a damaged WAV (it is cut short); save it as 16-bit PCM")
    return out.getvalue(), seconds


_KBITS = (
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
)
"""Kilobits a second of MPEG 1, and of 2 and 2.5, Layer III."""


def _mp3(body: bytes) -> tuple[bytes, float]:
    """The frames of an MP3 file, without its tags, and how many seconds they last."""
    at = 0
    if body.startswith(b"ID3") and len(body) > 10:
        high, mid, low, last = body[6:10]
        at = 10 + (high << 21 | mid << 14 | low << 7 | last)
    begin, seconds, frames = at, 0.0, 0
    while at + 4 <= len(body):
        head = int.from_bytes(body[at : at + 4], "big")
        version, kbits, speed = head >> 19 & 3, head >> 12 & 15, head >> 10 & 3
        if head >> 21 != 0x7FF or version == 1 or head >> 17 & 3 != 1 or speed == 3:
            break
        older = version != 3
        rate = (44_100, 48_000, 32_000)[speed] >> (older + (version == 0))
        length = (72 if older else 144) * _KBITS[older][kbits] * 1000 // rate + (head >> 9 & 1)
        if length < 24 or at + length > len(body):
            break
        at, seconds, frames = at + length, seconds + (576 if older else 1152) / rate, frames + 1
    rest = body[at:]
    if frames < 2 or (rest.strip(b"\0") and not rest.startswith((b"TAG", b"APETAGEX", b"LYRICS", b"ID3"))):
        raise ValueError(f"a damaged MP3: after {frames:,} frames come {len(rest):,} bytes that are none")
    return body[begin:at], seconds


FOLDER, _INDEX = "media", "media/.index.json"
_HIDDEN, _OURS = re.compile(r"\."), re.compile(r"\.|[0-9a-f]{64}\.[a-z0-9]{3}$")
"""Files that a folder is not named for; in the arena's own, what was encoded here is among them."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


class MediaFolder:
    """The pictures and sounds that settings name, in the folder `media` of the arena's `folder`; without
    one, or where it cannot be written, in memory.

    Any two are equal: which of them settings name stands in their rules.
    """

    def __init__(self, folder: Path | None, bounds: MediaSettings) -> None:
        self.folder, self._bounds = folder, bounds
        self._held: dict[str, bytes] = {}
        self._made: dict[str, Media] = {}
        self.opened = 0
        """Return the number of times that one of its openers was asked for something."""
        if folder is not None:
            with suppress(OSError, InputRefused, msgspec.DecodeError):
                self._made = msgspec.json.decode(read_bytes(folder / _INDEX), type=dict[str, Media])

    def get(self, digest: str, /) -> bytes | None:
        """Return the bytes of a SHA-256 (hex), None where they are not here. A file with others goes, so that
        what it was made of is encoded again."""
        if digest in self._held or self.folder is None:
            return self._held.get(digest)
        for suffix in SUFFIXES.values():
            name = f"{FOLDER}/{digest}.{suffix}"
            with suppress(OSError, InputRefused, OutputRefused):
                body = read_bytes(self.folder / name)
                if sha256(body).hexdigest() == digest:
                    return body
                Folder(self.folder).remove(name)
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MediaFolder)

    __hash__ = None  # type: ignore[assignment]

    @contextmanager
    def opener(self, base: Path) -> Iterator[Opener]:
        """Give what opens the paths of a file that stands in the folder `base`.

        They stay in there or in the arena's folder, links followed, so that somebody else's tasks do not send
        what you have elsewhere; an absolute path may name any file.
        """
        known = len(self._made)
        try:
            yield partial(self._open, base)
        finally:
            if len(self._made) > known:
                self._write(_INDEX, msgspec.json.encode(self._made))

    def _open(self, base: Path, written: str | bytes) -> list[Media]:
        self.opened += 1
        if isinstance(written, bytes):
            return [self._of_bytes(written)]
        written = storable(written)
        if written[:5].lower() == "data:":
            try:
                return [self._of_bytes(*_decoded(written))]
            except ValueError as error:
                raise ValueError(f"{written[:40]} …: {error}") from None
        if _ADDRESS.match(written):
            raise ValueError(f"{written:.80} is an address, and none is fetched; save it, and name that file")
        path = base / written
        try:
            names = [""]
            if path.is_dir():
                passed = _OURS if self.folder and real(path) == real(self.folder / FOLDER) else _HIDDEN
                names = [name for name in sorted(os.listdir(path)) if not passed.match(name)]
                if len(names) > MOST:
                    raise ValueError(f"{path} holds {len(names):,} files; expected 1 to {MOST}")
            return [self._of_file(path / name, base, free=Path(written).is_absolute()) for name in names]
        except FileNotFoundError:
            raise ValueError(f"{path} does not exist; a path begins at the folder of its file") from None
        except OSError as error:
            raise ValueError(f"{path}: {reason(error)}") from None
        except InputRefused as error:
            raise ValueError(str(error)) from None

    def _of_bytes(self, body: bytes, said: str = "") -> Media:
        return self._kept(sha256(body).hexdigest(), lambda: body, said)

    def _of_file(self, file: Path, base: Path, *, free: bool) -> Media:
        there = real(file)
        if not free and not any(there.is_relative_to(real(folder)) for folder in (base, self.folder or base)):
            raise ValueError(f"{file} leads out of the folder; put it there, or write its absolute path")
        status = check(file)
        key = f"{there} {status.st_size} {status.st_mtime_ns}"
        try:
            return self._kept(key, partial(read_bytes, file, self._bounds.bytes), file.suffix[1:])
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None

    def _kept(self, key: str, read: Callable[[], bytes], said: str) -> Media:
        """A picture or a sound by what tells its source from others, decoded where that is new."""
        key = f"{key} {said} {self._bounds}"
        media = self._made.get(key)
        if media is None or not (media.sha256 in self._held or self._is_whole(media)):
            media, made = admitted(read(), self._bounds, said)
            self._made[key] = media
            if not self._write(media.place, made):
                self._held[media.sha256] = made
        return media

    def _is_whole(self, media: Media) -> bool:
        file = (self.folder or Path(os.devnull)) / media.place
        return file.is_file() and file.stat().st_size == media.size

    def _write(self, name: str, body: bytes) -> bool:
        """Write a file of the arena's folder; whether that could be done."""
        if self.folder is not None:
            with suppress(OSError, OutputRefused):
                Folder(self.folder).write(name, body, durable=False)
                return True
        return False


def _decoded(url: str) -> tuple[bytes, str]:
    """Return the bytes of a data URL, and the form that it states, such as `png`. Raises ValueError."""
    about, _, text = url.partition(",")
    kind, *parameters = [part.strip().lower() for part in about[5:].split(";")]
    if parameters[-1:] != ["base64"]:
        raise ValueError("expected data:image/png;base64,…")
    bare = "".join(unquote(text).split()).rstrip("=")
    try:
        return b64decode(bare + "=" * (-len(bare) % 4), validate=True), kind.rpartition("/")[2]
    except ValueError as error:
        raise ValueError(f"no base64 ({error}); expected data:image/png;base64,…") from None
