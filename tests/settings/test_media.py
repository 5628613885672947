"""The door of pictures and sounds: what comes in is encoded anew, and what is not what it says stays out."""

from __future__ import annotations

import base64
import io
import json
import os
import struct
import wave
import zipfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from textwrap import wrap
from urllib.parse import quote

import pytest
from PIL import Image, ImageCms, PngImagePlugin

from peerage.game.media import Media, media_in
from peerage.settings import ArenaSettings, SettingsError, load, loads, rules_of
from peerage.settings.media import MediaFolder, MediaSettings, admitted

BOUNDS = MediaSettings(bytes=300_000, pixels=100_000, seconds=5)


def saved(form: str, size: tuple[int, int] = (8, 4), mode: str = "RGB", **more: object) -> bytes:
    out = io.BytesIO()
    image = Image.effect_noise(size, 60).convert(mode)
    if mode in ("LA", "RGBA"):
        image.putalpha(100)
    image.save(out, form, **more)
    return out.getvalue()


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(*chunks: bytes, width: int = 8, height: int = 4) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunks) + chunk(b"IEND", b"")


PIXELS = chunk(b"IDAT", zlib.compress((b"\0" + b"abc" * 8) * 4))


def wav(seconds: float = 0.1, **more: int) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setparams((more.get("channels", 1), 2, 8_000, 0, "NONE", ""))
        sound.writeframes(b"\1\2" * int(8_000 * seconds))
    return out.getvalue()


def mp3(frames: int = 10) -> bytes:
    return (b"\xff\xfb\x90\x00" + b"\5" * 413) * frames  # MPEG 1 Layer III, 128 kbit/s at 44,100 Hz


def chunks_of(body: bytes) -> Iterator[bytes]:
    at = 8
    while at < len(body):
        (size,) = struct.unpack_from(">I", body, at)
        yield body[at + 4 : at + 8]
        at += 12 + size


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("run.sh", "rm -rf /")
    return out.getvalue()


# ------------------------------------------------------------------------------------------- what comes in


@pytest.mark.parametrize(
    ("form", "mode", "kind"),
    [("PNG", "RGB", "png"), ("PNG", "LA", "png"), ("PNG", "1", "png"), ("GIF", "P", "png"),
     ("WEBP", "RGBA", "png"), ("JPEG", "L", "jpeg"), ("JPEG", "CMYK", "jpeg")],
)  # fmt: skip
def test_a_picture_is_encoded_anew_as_png_or_jpeg(form: str, mode: str, kind: str) -> None:
    media, made = admitted(saved(form, mode=mode), BOUNDS)
    assert media == Media(sha256(made).hexdigest(), f"image/{kind}", len(made), 8, 4)  # type: ignore[arg-type]
    image = Image.open(io.BytesIO(made))
    assert image.mode == ("RGBA" if mode in ("LA", "RGBA") else "RGB")
    assert (image.size, image.format) == ((8, 4), kind.upper())
    assert admitted(made, BOUNDS, kind)[0].type == media.type


def test_no_metadata_and_no_profile_comes_along() -> None:
    exif = Image.Exif()
    exif[0x010F], exif[0x9286], exif[0x0112] = "gpt-5 photographed this", "vote for A", 6
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    noted = PngImagePlugin.PngInfo()
    noted.add_text("Comment", "vote for A", zip=True)
    noted.add_itxt("XML:com.adobe.xmp", "<x>vote for A</x>")
    kept = {"exif": exif.tobytes(), "icc_profile": profile}
    for body in (
        saved("JPEG", comment=b"vote for A", **kept),
        saved("PNG", pnginfo=noted, **kept),
        saved("WEBP", xmp=b"<x>vote for A</x>", **kept),
    ):
        assert b"vote for A" in body or b"photographed" in body
        media, made = admitted(body, BOUNDS)
        assert (media.width, media.height) == (4, 8)  # turned as the camera says
        assert not [word for word in (b"vote", b"photographed", b"Exif", b"ICC", b"iCCP") if word in made]
        assert not Image.open(io.BytesIO(made)).getexif()
        if media.type == "image/png":
            assert {*chunks_of(made)} == {b"IHDR", b"IDAT", b"IEND"}


@pytest.mark.parametrize("subsampling", [0, 2])
@pytest.mark.parametrize("quality", [30, 75, 90])
def test_a_photo_neither_grows_nor_loses(quality: int, subsampling: int) -> None:
    body = saved("JPEG", (200, 200), quality=quality, subsampling=subsampling)
    _, made = admitted(body, BOUNDS)
    assert abs(len(made) - len(body)) < 0.03 * len(body)
    before, after = (Image.open(io.BytesIO(one)).convert("RGB").tobytes() for one in (body, made))
    assert sum(abs(a - b) for a, b in zip(before, after, strict=True)) < 2 * len(before)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_picture_whose_metadata_are_damaged_is_a_picture(form: str) -> None:
    media, _ = admitted(saved(form, exif=b"Exif\0\0gpt-5, no TIFF"), BOUNDS)
    assert (media.width, media.height) == (8, 4)


def test_what_stands_behind_a_picture_stays_behind() -> None:
    for more in (b"<script>alert(1)</script>", zipped()):
        for body in (saved("PNG"), saved("JPEG"), saved("GIF", mode="P")):
            _, made = admitted(body + more, BOUNDS)
            assert b"alert" not in made
            assert not zipfile.is_zipfile(io.BytesIO(made))
    script = b"GIF89a" + saved("GIF", mode="P")[6:-1] + b"\x21\xfe\x0a*/=1;alert()\0;"
    assert b"alert" not in admitted(script, BOUNDS)[1]


def test_a_moving_picture_is_its_first_frame() -> None:
    frames = [Image.new("RGB", (8, 4), color) for color in ("red", "blue", "lime")]
    for form in ("GIF", "WEBP", "PNG"):
        out = io.BytesIO()
        frames[0].save(out, form, save_all=True, append_images=frames[1:], lossless=True)
        image = Image.open(io.BytesIO(admitted(out.getvalue(), BOUNDS)[1]))
        assert (image.getpixel((0, 0)), getattr(image, "n_frames", 1)) == ((255, 0, 0), 1)


def test_of_sixteen_bits_the_upper_ones_are_seen() -> None:
    image = Image.new("I;16", (3, 1))
    for place, value in enumerate((0, 32_896, 65_535)):
        image.putpixel((place, 0), value)
    out = io.BytesIO()
    image.save(out, "PNG")
    seen = Image.open(io.BytesIO(admitted(out.getvalue(), BOUNDS)[1]))
    assert [seen.getpixel((place, 0)) for place in range(3)] == [(v, v, v) for v in (0, 128, 255)]


def test_a_sound_comes_in_without_its_tags() -> None:
    body = wav()
    tag = b"LIST" + struct.pack("<I", 18) + b"INFOIART\6\0\0\0gpt-5\0"
    whole = b"RIFF" + struct.pack("<I", len(body) + 18) + b"WAVE" + tag + body[12:]
    media, made = admitted(whole + b"PK\3\4more", BOUNDS)
    assert (media.type, media.seconds, made) == ("audio/wav", 0.1, body)
    tags = b"ID3\3\0\0\0\0\0\12" + b"TIT2gpt-5." + mp3() + b"TAG" + b"gpt-5" * 25
    media, made = admitted(tags, BOUNDS)
    assert (media.type, media.seconds, made) == ("audio/mpeg", 0.261, mp3())
    older = (b"\xff\xf3\x40\xc4" + b"\5" * 140) * 5  # MPEG 2, 32 kbit/s at 22,050 Hz… 104 bytes
    with pytest.raises(ValueError, match="a damaged MP3"):
        admitted(older, BOUNDS)


# -------------------------------------------------------------------------------------------- what does not

BOMB = png(chunk(b"IDAT", zlib.compress(bytes(1_000))), width=60_000, height=60_000)
BAD = {
    "a bomb": (BOMB, "far too many pixels, and 1 to 100,000 in all are taken; see `media: pixels`"),
    "large": (saved("PNG", (400, 300), "1"), "400 × 300 pixels, and 1 to 100,000"),
    "no pixels": (png(PIXELS, width=0), "a damaged PNG"),
    "a bomb in a chunk": (
        png(chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(80_000_000))), PIXELS), "a damaged PNG"),
    "bombs in chunks": (
        png(*[chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(1_000_000)))] * 90, PIXELS), "a damaged PNG"),
    "cut PNG": (saved("PNG", (80, 40))[:900], "a damaged PNG"),
    "cut JPEG": (saved("JPEG", (80, 40))[:900], "a damaged JPEG"),
    "cut GIF": (saved("GIF", (80, 40), "P")[:900], "a damaged GIF"),
    "cut WebP": (saved("WEBP", (80, 40))[:900], "a damaged WEBP"),
    "a header alone": (b"\xff\xd8\xff\xe0", r"a damaged JPEG \(no header that can be read\)"),
    "SVG": (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "no picture or sound"),
    "HTML": (b"<!doctype html><script>", "no picture or sound that is known, but begins with '<!doctype"),
    "TIFF": (saved("TIFF"), "expected PNG, JPEG, WebP, GIF, WAV or MP3"),
    "BMP": (saved("BMP"), "no picture or sound"),
    "PDF": (b"%PDF-1.7\n", "no picture or sound"),
    "nothing": (b"", "no picture or sound"),
    "many bytes": (bytes(300_001), "300,001 bytes, and at most 300,000 are taken; see `media: bytes`"),
    "cut WAV": (wav(0.2)[:500], r"a damaged WAV \(it is cut short\)"),
    "empty WAV": (wav(0), r"a damaged WAV"),
    "WAV as it was piped": (
        wav()[:40] + b"\xff" * 4 + wav()[44:], r"a damaged WAV \(it is cut short\); save it as 16-bit PCM"),
    "WAV of floats": (wav()[:20] + b"\3" + wav()[21:], r"\(unknown format: 3\); save it as 16-bit PCM"),
    "WAV that is none": (b"RIFF\4\0\0\0WAVE", "a damaged WAV, or other than PCM"),
    "WAV without a rate": (wav()[:24] + bytes(8) + wav()[32:], "a damaged WAV, or other than PCM"),
    "WAV with a part beyond its end": (wav()[:16] + b"\xff" + wav()[17:], "a damaged WAV, or other than PCM"),
    "long": (wav(6), "6 s, and at most 5 are taken; see `media: seconds`"),
    "MP3 that is none": (b"ID3\3\0\0\0\0\0\12" + b"<script>alert(1)</script>" * 50, "after 0 frames come"),
    "MP3 and a script": (mp3() + b"<script>", "after 10 frames come 8 bytes that are none"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_picture_or_too_much_is_refused(name: str) -> None:
    body, told = BAD[name]
    with pytest.raises(ValueError, match=told) as refused:
        admitted(body, BOUNDS)
    assert len(str(refused.value)) < 200
    assert "\n" not in str(refused.value)


def test_any_cut_and_any_changed_byte_ends_in_words(tmp_path: Path) -> None:
    for body in (saved("PNG"), saved("JPEG"), saved("GIF", mode="P"), saved("WEBP"), wav(0.01), mp3(2)):
        for at in range(min(len(body), 700)):
            for changed in (body[:at], body[:at] + bytes([body[at] ^ 0xFF]) + body[at + 1 :]):
                try:
                    media, made = admitted(changed, BOUNDS)
                except ValueError:
                    continue
                assert media.sha256 == sha256(made).hexdigest()


def test_a_small_file_that_would_be_decoded_for_hours_is_refused_at_once() -> None:
    photo = saved("JPEG", (250, 250), progressive=True)
    scan = photo[photo.rindex(b"\xff\xda") : -2]
    noted = b"\xff\xe1\0\x12Exif\0\0" + bytes(10)
    for body in (photo[:-2] + scan * 200 + photo[-2:], photo[:2] + noted * 201 + photo[2:]):
        with pytest.raises(ValueError, match=r"a damaged JPEG \(more than 200 scans, or notes of a camera\)"):
            admitted(body, MediaSettings())
    video = os.urandom(1_000_000) + b"\xff\xda" * 1_000
    assert admitted(photo + noted + video, MediaSettings())[0].width == 250


def test_what_grows_beyond_the_bound_as_png_is_refused() -> None:
    photo = saved("WEBP", (300, 300), quality=50)
    assert len(photo) < 100_000
    with pytest.raises(
        ValueError, match="bytes as image/png, more than `media: bytes`; save a photo as JPEG"
    ):
        admitted(photo, MediaSettings(bytes=100_000))
    photo = saved("JPEG", (300, 300), quality=50, progressive=True, optimize=True)
    with pytest.raises(ValueError, match="bytes as image/jpeg, more than `media: bytes`; save it smaller"):
        admitted(photo, MediaSettings(bytes=len(photo)))


# --------------------------------------------------------------------------------------- paths and the shelf


def opened(shelf: MediaFolder, base: Path, written: str | bytes) -> list[Media]:
    with shelf.opener(base) as opener:
        return list(opener(written))


def refused(shelf: MediaFolder, base: Path, written: str) -> str:
    with pytest.raises(ValueError) as wrong:  # noqa: PT011
        opened(shelf, base, written)
    return str(wrong.value)


def test_files_and_folders_are_opened_below_the_folder(tmp_path: Path) -> None:
    arena, tasks = tmp_path / "arena", tmp_path / "mine"
    for folder in (arena, tasks / "scans"):
        folder.mkdir(parents=True)
    for name, size in (("b.png", 2), ("a.png", 1), (".hidden", 3)):
        (tasks / "scans" / name).write_bytes(saved("PNG", (size, 1)))
    (tmp_path / "secret.png").write_bytes(saved("PNG", (9, 1)))
    (arena / "own.png").write_bytes(saved("PNG", (4, 1)))
    shelf = MediaFolder(arena, BOUNDS)
    assert [media.width for media in opened(shelf, tasks, "scans")] == [1, 2]
    assert [media.width for media in opened(shelf, tasks, "../arena/own.png")] == [4]
    assert "leads out of the folder" in refused(shelf, tasks, "../secret.png")
    for link, to in (("link.png", tmp_path / "secret.png"), ("way", tmp_path)):
        (tasks / link).symlink_to(to)
    assert "leads out of the folder" in refused(shelf, tasks, "link.png")
    assert "leads out of the folder" in refused(shelf, tasks, "way/secret.png")
    assert [media.width for media in opened(shelf, tasks, str(tmp_path / "secret.png"))] == [9]
    (tasks / "inner.png").symlink_to(tasks / "scans" / "b.png")
    assert [media.width for media in opened(shelf, tasks, "inner.png")] == [2]


def test_a_folder_of_too_many_is_refused_before_any_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "many").mkdir()
    for number in range(101):
        (tmp_path / "many" / f"{number}.png").touch()
    monkeypatch.setattr("peerage.settings.media.admitted", lambda *_: pytest.fail("decoded"))
    assert "many holds 101 files; expected 1 to 100" in refused(MediaFolder(None, BOUNDS), tmp_path, "many")


def test_what_is_no_file_is_refused_with_its_name(tmp_path: Path) -> None:
    shelf = MediaFolder(tmp_path, BOUNDS)
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "page.png").write_bytes(b"<html>")
    (tmp_path / "photo.png").write_bytes(saved("JPEG"))
    (tmp_path / "drawing.svg").write_bytes(saved("PNG"))
    (tmp_path / "large.png").write_bytes(bytes(300_001))
    (tmp_path / "loop.png").symlink_to("loop.png")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for written, told in {
        "pipe.png": "is a pipe",
        "/dev/zero": "is a device",
        "gone.png": "does not exist; a path begins at the folder of its file",
        "page.png": "page.png: no picture or sound that is known, but begins with '<html>'",
        "photo.png": "photo.png: called 'png' and holds JPEG; name it as what it is",
        "drawing.svg": "called 'svg' and holds PNG",
        "large.png": "300,001 bytes, and at most 300,000",
        "loop.png": "loop.png",
        "deep": "is a folder, and a regular file was expected",
        "https://example.org/a.png": "is an address, and none is fetched",
        "x" * 5_000: "",
        "data:image/png,abc": "expected data:image/png;base64",
        "data:image/png;base64,%%%": "data:image/png;base64,",
        "data:image/svg+xml;base64," + base64.b64encode(b"<svg/>").decode(): "no picture or sound",
        "data:image/jpeg;base64," + base64.b64encode(saved("PNG")).decode(): "called 'jpeg' and holds PNG",
        "data:image/png;base64," + "A" * 500_000: "375,000 bytes, and at most 300,000",
        "data:image/png;base64,-_8=": "no base64 (Only base64 data is allowed); expected data:image/png;base",
        "a\0b.png": "a\ufffdb.png does not exist",
    }.items():
        assert told in refused(shelf, tmp_path, written)


WRITTEN = base64.b64encode(saved("PNG", (5, 2))).decode()


@pytest.mark.parametrize(
    "written",
    [
        f"data:;base64,{WRITTEN}",
        f"DATA:image/PNG;BASE64,{WRITTEN}",
        f"data:image/png;name=a.png;charset=utf-8;base64, {WRITTEN}",
        f"data:image/x-png;base64,{quote(WRITTEN, safe='')}",
        f"data:image/png;base64,{WRITTEN.rstrip('=')}",
        "data:image/png;base64,\n" + "\r\n".join(wrap(WRITTEN, 40)) + "\n",
    ],
)
def test_data_urls_are_read_as_browsers_read_them(tmp_path: Path, written: str) -> None:
    assert WRITTEN.endswith("=")
    shelf = MediaFolder(tmp_path, BOUNDS)
    assert [media.width for media in opened(shelf, tmp_path, written)] == [5]


def test_the_arena_s_folder_of_pictures_may_hold_the_owner_s(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    body = saved("PNG")
    (tmp_path / "media" / "mine.png").write_bytes(body)
    first = opened(MediaFolder(tmp_path, BOUNDS), tmp_path, "media")
    assert opened(MediaFolder(tmp_path, BOUNDS), tmp_path, "media/") == first
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / first[0].file).write_bytes(body)
    assert opened(MediaFolder(tmp_path, BOUNDS), tmp_path, "scans") == first


def test_a_second_load_decodes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(saved("PNG"))
    url = f"data:image/png;base64,{base64.b64encode(saved('PNG', (5, 5))).decode()}"
    first = MediaFolder(tmp_path, BOUNDS)
    before = opened(first, tmp_path, "a.png") + opened(first, tmp_path, url)
    monkeypatch.setattr("peerage.settings.media.admitted", lambda *_: pytest.fail("decoded again"))
    second = MediaFolder(tmp_path, BOUNDS)
    assert opened(second, tmp_path, "a.png") + opened(second, tmp_path, url) == before
    assert [second.get(of.sha256) for of in before] == [first.get(of.sha256) for of in before]
    assert second == first
    monkeypatch.undo()
    os.utime(tmp_path / "a.png", ns=(1, 1))
    assert opened(second, tmp_path, "a.png") == before[:1]  # the same bytes
    assert "8 × 4 pixels" in refused(MediaFolder(tmp_path, MediaSettings(pixels=30)), tmp_path, "a.png")


def test_the_shelf_gives_no_other_bytes_than_those_of_the_mark(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(saved("PNG"))
    shelf = MediaFolder(tmp_path, BOUNDS)
    [media] = opened(shelf, tmp_path, "a.png")
    file = tmp_path / "media" / f"{media.sha256}.png"
    assert shelf.get(media.sha256) == file.read_bytes()
    body = file.read_bytes()
    file.write_bytes(body[:-1] + b"?")
    assert shelf.get(media.sha256) is None
    again = MediaFolder(tmp_path, BOUNDS)
    assert opened(again, tmp_path, "a.png") == [media]  # decoded anew
    assert again.get(media.sha256) == file.read_bytes() == body
    for index in (
        b"",
        b"{",
        b'{"a": 1}',
        json.dumps({"k": {"sha256": "../../a", "type": "image/png", "size": 1}}),
    ):
        (tmp_path / "media" / ".index.json").write_bytes(
            index if isinstance(index, bytes) else index.encode()
        )
        assert opened(MediaFolder(tmp_path, BOUNDS), tmp_path, "a.png") == [media]


def test_where_nothing_can_be_written_they_live_with_the_process(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(saved("PNG"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "media").symlink_to(tmp_path / "elsewhere")  # no write leaves the arena's folder
    for folder in (None, tmp_path):
        shelf = MediaFolder(folder, BOUNDS)
        [media] = opened(shelf, tmp_path, "a.png")
        assert sha256(shelf.get(media.sha256) or b"").hexdigest() == media.sha256
    assert not os.listdir(tmp_path / "elsewhere")


# ------------------------------------------------------------------------------------------------ settings


def arena(folder: Path, text: str) -> ArenaSettings:
    (folder / "arena.yaml").write_text(text)
    return load(folder)


def test_tasks_of_a_file_and_of_a_list_have_the_same_marks(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cat.png").write_bytes(saved("PNG"))
    (tmp_path / "data" / "t.csv").write_text("prompt,image\nWhat is this?,cat.png\n")
    of_file = arena(tmp_path, "tasks: data/t.csv\n")
    of_list = arena(tmp_path, "tasks: [{prompt: 'What is this?', image: data/cat.png}]\n")
    for settings in (of_file, of_list):
        [task] = rules_of(settings).tasks
        [found] = media_in([text for _, text in task.messages]).values()
        assert task.messages == (("user", f"What is this?\n\n{found.mark}"),)
        assert sha256(settings.shelf.get(found.sha256) or b"").hexdigest() == found.sha256
    assert rules_of(of_file).tasks == rules_of(of_list).tasks
    assert load(tmp_path) == of_list
    assert "shelf" not in json.dumps(of_list.model_dump(mode="json"))
    assert of_list.without(["nobody"]).shelf == of_list.shelf
    assert loads("players: [house:0.5]\n").shelf.get("0" * 64) is None


def test_what_is_wrong_is_said_with_file_and_row(tmp_path: Path) -> None:
    (tmp_path / "fine.png").write_bytes(saved("PNG"))
    (tmp_path / "page.png").write_bytes(b"<html>")
    (tmp_path / "t.csv").write_text("prompt,image\na,fine.png\nb,page.png\nc,gone.png\n")
    with pytest.raises(SettingsError) as wrong:
        arena(tmp_path, "tasks: t.csv\n")
    first, second = [line.strip() for line in str(wrong.value).splitlines()]
    assert first.startswith(
        f"{tmp_path}/t.csv, line 3, column image: {tmp_path}/page.png: no picture or sound"
    )
    assert second.startswith(f"line 4, column image: {tmp_path}/gone.png does not exist")
    with pytest.raises(SettingsError, match=r"arena.yaml, line 3, .*task 1, image: .*page\.png: no picture"):
        arena(tmp_path, "players: [house:0.5]\n\ntasks: [{prompt: a, image: page.png}]\n")
    (tmp_path / "t.csv").write_text("prompt,image\n\n\na,fine.png\n")
    with pytest.raises(SettingsError, match=r"line 4, column image: .*8 × 4 pixels"):
        arena(tmp_path, "tasks: t.csv\nmedia: {pixels: 10}\n")
    with pytest.raises(SettingsError, match=r"media\.pixels"):
        arena(tmp_path, "media: {pixels: 0}\n")


def test_no_mark_comes_in_by_its_characters(tmp_path: Path) -> None:
    mark = Media("0" * 64, "image/png", 5, 1, 1).mark
    escaped = mark.encode("ascii", "backslashreplace").decode()
    (tmp_path / "t.csv").write_text(f"prompt,category\nSee {mark},{mark}\n")
    (tmp_path / "p.md").write_text(f"You are {mark}")
    settings = arena(tmp_path, "tasks: t.csv\nplayers: [{model: 'house:1', system_prompt: {file: p.md}}]\n")
    assert not media_in([text for _, text in rules_of(settings).tasks[0].messages])
    assert not media_in([settings.players[0].system_prompt])
    (tmp_path / "q.jsonl").write_text(f'{{"question": "{escaped}", "answer": "a"}}\n')
    quiz = rules_of(arena(tmp_path, "game: trivia\nrules: {quiz: q.jsonl}\n")).quiz
    assert not media_in([quiz[0].question])
    with pytest.raises(SettingsError, match="line 1"):
        arena(tmp_path, f'name: "{escaped}"\n')
