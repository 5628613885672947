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

import msgspec
from pydantic import Field

from peerage.game.media import Media, MediaType, Opener
from peerage.game.section import SettingsSection
from peerage.values.inputs import InputRefused, check, read_bytes, real
from peerage.values.outputs import Folder, OutputRefused
from peerage.values.system_errors import reason


class MediaSettings(SettingsSection):
    """Bounds of each picture and each sound in what the arena's owner writes."""

    bytes: int = Field(20_000_000, ge=1_000, le=1 << 28, description="Bytes, as it comes and as it is sent.")
    pixels: int = Field(40_000_000, ge=1, le=89_000_000, description="Pixels of a picture: width by height.")
    seconds: float = Field(300.0, gt=0, le=86_400, description="Seconds of a sound.")


_BEGINS = {
    "PNG": rb"\x89PNG\r\n\x1a\n", "JPEG": rb"\xff\xd8\xff", "GIF": rb"GIF8[79]a",
    "WEBP": rb"RIFF.{4}WEBP", "WAV": rb"RIFF.{4}WAVE", "MP3": rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]",
}  # fmt: skip
"""Forms that are read, by how such a file begins."""
_SAID = {
    "PNG": ("png",), "JPEG": ("jpg", "jpeg", "jpe", "jfif"), "GIF": ("gif",), "WEBP": ("webp",),
    "WAV": ("wav", "wave", "x-wav", "vnd.wave"), "MP3": ("mp3", "mpeg", "mpga"),
}  # fmt: skip
"""Endings of files and of types in data URLs that say so."""
EXPECTED = "expected PNG, JPEG, WebP, GIF, WAV or MP3"


def admitted(body: bytes, bounds: MediaSettings, said: str = "") -> tuple[Media, bytes]:
    """Return a picture or a sound as it is sent, with what stands for it. `said` is the form that it came
    under, if any, such as `png`. Raises ValueError for what is none, is another than it says or is too
    much."""
    if len(body) > bounds.bytes:
        raise ValueError(f"{len(body):,} bytes, and at most {bounds.bytes:,} are taken; see `media: bytes`")
    form = next((form for form, begins in _BEGINS.items() if re.match(begins, body[:16], re.DOTALL)), "")
    if not form:
        raise ValueError(f"no picture or sound that is known, but {body[:12]!r} …; {EXPECTED}")
    if said and said.lower() not in _SAID[form]:
        raise ValueError(f"called {said!r:.20} and holds {form}; name it as what it is")
    kind: MediaType
    width = height = 0
    seconds = 0.0
    if form in ("WAV", "MP3"):
        kind = "audio/wav" if form == "WAV" else "audio/mpeg"
        made, seconds = (_wav if form == "WAV" else _mp3)(body)
    else:
        kind = "image/jpeg" if form == "JPEG" else "image/png"
        made, width, height = _picture(body, form, bounds.pixels)
    if seconds > bounds.seconds:
        raise ValueError(f"{seconds:,.0f} s, and at most {bounds.seconds:,g} are taken; see `media: seconds`")
    if len(made) > bounds.bytes:
        raise ValueError(f"{len(made):,} bytes as {kind}, more than `media: bytes`; save a photo as JPEG")
    return Media(sha256(made).hexdigest(), kind, len(made), width, height, round(seconds, 3)), made


def _picture(body: bytes, form: str, most: int) -> tuple[bytes, int, int]:
    """The first frame of a picture, encoded anew, with its width and height. Raises ValueError."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a bomb, which its pixels tell, and of odd metadata
            with Image.open(BytesIO(body), formats=[form]) as opened:
                width, height = opened.size
                if 0 < width * height <= most:
                    opened.load()
                    image: Image.Image = ImageOps.exif_transpose(opened)
                    if image.mode.startswith("I"):  # 16 bits, of which the upper ones are seen
                        image = image.convert("I").point(lambda value: value * (1 / 257)).convert("L")
                    plain = image.convert("RGBA" if image.has_transparency_data else "RGB")
                    plain.info = {}
                    out = BytesIO()
                    plain.save(out, "JPEG" if form == "JPEG" else "PNG", quality=92, compress_level=3)
                    return out.getvalue(), *plain.size
    except Image.DecompressionBombError:
        width, height = most, most
    except Exception as error:  # a decoder of what is hostile may raise anything
        why = "no header that can be read" if isinstance(error, UnidentifiedImageError) else str(error)
        raise ValueError(f"a damaged {form} ({why:.100})") from None
    found = f"{width:,} × {height:,} pixels" if width < most else "far too many pixels"
    raise ValueError(f"{found}, and 1 to {most:,} in all are taken; see `media: pixels`")


def _wav(body: bytes) -> tuple[bytes, float]:
    """The samples of a WAV file under a header of their own, and how many seconds they last."""
    out = BytesIO()
    try:
        with wave.Wave_read(BytesIO(body)) as sound, wave.Wave_write(out) as made:
            stated = sound.getparams()
            samples = sound.readframes(stated.nframes)
            made.setparams(stated)
            made.writeframes(samples)
    except Exception as error:  # as above
        raise ValueError(f"a damaged WAV, or other than PCM ({error!s:.100})") from None
    if not samples or len(samples) < stated.nframes * stated.nchannels * stated.sampwidth:
        raise ValueError("a damaged WAV (it is cut short)")
    return out.getvalue(), stated.nframes / stated.framerate


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


FOLDER, _INDEX = "media", "media/index.json"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


class MediaFolder:
    """The pictures and sounds that settings name, in the folder `media` of the arena's `folder`; without
    one, or where it cannot be written, in memory.

    Any two are equal: which of them settings name stands in their rules.
    """

    def __init__(self, folder: Path | None, bounds: MediaSettings) -> None:
        self.folder, self._bounds = folder, bounds
        self._known: dict[str, Media] = {}
        self._held: dict[str, bytes] = {}
        self._made: dict[str, Media] = {}
        self.opened = 0
        """Return the number of times that one of its openers was asked for something."""
        if folder is not None:
            with suppress(OSError, InputRefused, msgspec.DecodeError):
                self._made = msgspec.json.decode(read_bytes(folder / _INDEX), type=dict[str, Media])

    def get(self, digest: str, /) -> bytes | None:
        """Return the bytes of a SHA-256 (hex), None where they are not here."""
        if digest in self._held or digest not in self._known:
            return self._held.get(digest)
        with suppress(OSError, InputRefused):
            body = read_bytes(self._file(self._known[digest]))
            return body if sha256(body).hexdigest() == digest else None
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
            return [self._kept(sha256(written).hexdigest(), lambda: written, "")]
        if written.startswith("data:"):
            return [self._of_url(written)]
        if _ADDRESS.match(written):
            raise ValueError(f"{written:.80} is an address, and none is fetched; save it, and name that file")
        path = base / written
        try:
            names = [name for name in sorted(os.listdir(path)) if name[0] != "."] if path.is_dir() else [""]
            return [self._of_file(path / name, base, free=Path(written).is_absolute()) for name in names]
        except FileNotFoundError:
            raise ValueError(f"{path} does not exist; a path begins at the folder of its file") from None
        except OSError as error:
            raise ValueError(f"{path}: {reason(error)}") from None
        except InputRefused as error:
            raise ValueError(str(error)) from None

    def _of_url(self, written: str) -> Media:
        kind, _, text = written[5:].partition(",")
        if not kind.endswith(";base64") or len(text) > 1.4 * self._bounds.bytes + 100:
            raise ValueError(f"{written[:40]} …: expected data:image/png;base64,… within `media: bytes`")
        try:
            body = b64decode(text, validate=True)
            return self._kept(sha256(body).hexdigest(), lambda: body, kind[:-7].rpartition("/")[2])
        except ValueError as error:
            raise ValueError(f"{written[:40]} …: {error}") from None

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
            if not self._write(f"{FOLDER}/{media.sha256}{media.suffix}", made):
                self._held[media.sha256] = made
        self._known[media.sha256] = media
        return media

    def _is_whole(self, media: Media) -> bool:
        file = self._file(media)
        return file.is_file() and file.stat().st_size == media.size

    def _file(self, media: Media) -> Path:
        return (self.folder or Path(os.devnull)) / FOLDER / f"{media.sha256}{media.suffix}"

    def _write(self, name: str, body: bytes) -> bool:
        """Write a file of the arena's folder; whether that could be done."""
        if self.folder is not None:
            with suppress(OSError, OutputRefused):
                Folder(self.folder).write(name, body, durable=False)
                return True
        return False
