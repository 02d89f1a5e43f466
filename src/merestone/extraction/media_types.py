"""Media types by file name, and what people call them."""

from __future__ import annotations

from types import MappingProxyType

OCTET_STREAM = "application/octet-stream"

_PROSE = {
    "text/plain": ("txt text asc man nfo", "plain text"),
    "message/rfc822": ("eml mht mhtml", "an e-mail"),
    "text/vtt": ("vtt", "WebVTT subtitles"),
    "application/x-subrip": ("srt", "SubRip subtitles"),
}
_MARKUP = {
    "text/markdown": ("md markdown mdown mkd mkdn mdx qmd rmd", "Markdown"),
    "text/x-rst": ("rst rest", "reStructuredText"),
    "text/html": ("html htm xhtml xht shtml", "HTML"),
}
_RECORDS = {
    "text/csv": ("csv", "CSV"),
    "text/tab-separated-values": ("tsv tab", "tab-separated values"),
    "application/jsonl": ("jsonl ndjson", "JSON lines"),
}
# media type: extensions, name, language of the code block
_CODE = {
    "text/x-python": ("py pyi pyw pyx", "Python", "python"),
    "text/javascript": ("js mjs cjs jsx", "JavaScript", "javascript"),
    "text/typescript": ("ts mts cts tsx", "TypeScript", "typescript"),
    "text/x-java": ("java", "Java", "java"),
    "text/x-kotlin": ("kt kts", "Kotlin", "kotlin"),
    "text/x-scala": ("scala sc", "Scala", "scala"),
    "text/x-groovy": ("groovy gradle", "Groovy", "groovy"),
    "text/x-go": ("go", "Go", "go"),
    "text/x-rust": ("rs", "Rust", "rust"),
    "text/x-c": ("c h", "C", "c"),
    "text/x-c++": ("cpp cc cxx hpp hh hxx ipp inl cu cuh", "C++", "cpp"),
    "text/x-csharp": ("cs csx", "C#", "csharp"),
    "text/x-fsharp": ("fs fsi fsx", "F#", "fsharp"),
    "text/x-swift": ("swift", "Swift", "swift"),
    "text/x-objective-c": ("m mm", "Objective-C", "objective-c"),
    "text/x-ruby": ("rb rake gemspec", "Ruby", "ruby"),
    "text/x-php": ("php phtml", "PHP", "php"),
    "text/x-perl": ("pl pm", "Perl", "perl"),
    "text/x-lua": ("lua", "Lua", "lua"),
    "text/x-r": ("r", "R", "r"),
    "text/x-julia": ("jl", "Julia", "julia"),
    "text/x-haskell": ("hs", "Haskell", "haskell"),
    "text/x-elixir": ("ex exs", "Elixir", "elixir"),
    "text/x-erlang": ("erl hrl", "Erlang", "erlang"),
    "text/x-clojure": ("clj cljs cljc edn", "Clojure", "clojure"),
    "text/x-dart": ("dart", "Dart", "dart"),
    "text/x-zig": ("zig", "Zig", "zig"),
    "text/x-assembly": ("s asm", "assembly", "assembly"),
    "text/x-shellscript": ("sh bash zsh fish ksh", "a shell script", "shell"),
    "text/x-powershell": ("ps1 psm1 psd1", "PowerShell", "powershell"),
    "text/x-batch": ("bat cmd", "a batch file", "batch"),
    "text/x-sql": ("sql ddl", "SQL", "sql"),
    "text/x-makefile": ("mk mak", "a makefile", "makefile"),
    "text/x-dockerfile": ("dockerfile", "a Dockerfile", "dockerfile"),
    "text/x-cmake": ("cmake", "CMake", "cmake"),
    "text/x-protobuf": ("proto", "Protocol Buffers", "protobuf"),
    "text/x-graphql": ("graphql gql", "GraphQL", "graphql"),
    "text/x-terraform": ("tf tfvars hcl", "Terraform", "hcl"),
    "text/css": ("css scss sass less", "CSS", "css"),
    "text/x-vue": ("vue svelte astro", "a web component", "vue"),
    "text/x-tex": ("tex sty cls bib", "TeX", "tex"),
    "text/x-diff": ("diff patch", "a patch", "diff"),
    "text/x-log": ("log", "a log", "log"),
    "text/x-ini": ("ini cfg conf cnf properties env editorconfig", "a settings file", "ini"),
    "application/json": ("json geojson webmanifest", "JSON", "json"),
    "application/json5": ("json5 jsonc", "JSON5", "json5"),
    "application/yaml": ("yaml yml", "YAML", "yaml"),
    "application/toml": ("toml", "TOML", "toml"),
    "application/xml": ("xml xsd xsl xslt rss atom plist wsdl", "XML", "xml"),
    "image/svg+xml": ("svg", "SVG", "xml"),
    "application/x-ipynb+json": ("ipynb", "a Jupyter notebook", "json"),
}
_OTHER = {
    OCTET_STREAM: ("bin dat exe dll so dylib o a lib pyc pyo class obj", "binary data"),
    "application/pdf": ("pdf", "a PDF"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": (
        "docx docm dotx",
        "a Word document",
    ),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": (
        "pptx pptm ppsx potx",
        "a PowerPoint file",
    ),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": (
        "xlsx xlsm xlsb xltx",
        "an Excel file",
    ),
    "application/epub+zip": ("epub", "an EPUB book"),
    "application/vnd.oasis.opendocument.text": ("odt", "an OpenDocument text"),
    "application/vnd.oasis.opendocument.spreadsheet": ("ods", "an OpenDocument spreadsheet"),
    "application/vnd.oasis.opendocument.presentation": ("odp", "an OpenDocument presentation"),
    "application/x-ole-storage": ("doc xls ppt msg dot pps", "an OLE2 file (old Office format)"),
    "application/rtf": ("rtf", "Rich Text Format"),
    "application/postscript": ("ps eps", "PostScript"),
    "application/zip": ("zip jar war whl apk", "a ZIP archive"),
    "application/gzip": ("gz tgz", "gzip-compressed data"),
    "application/x-bzip2": ("bz2", "bzip2-compressed data"),
    "application/x-xz": ("xz", "xz-compressed data"),
    "application/zstd": ("zst", "Zstandard-compressed data"),
    "application/x-7z-compressed": ("7z", "a 7-Zip archive"),
    "application/vnd.rar": ("rar", "a RAR archive"),
    "application/x-tar": ("tar", "a tar archive"),
    "application/vnd.sqlite3": ("sqlite sqlite3 db", "a SQLite database"),
    "application/vnd.apache.parquet": ("parquet", "a Parquet file"),
    "application/x-hdf5": ("h5 hdf5", "an HDF5 file"),
    "application/java-vm": ("", "a Java class file"),
    "application/x-elf": ("elf", "an ELF program"),
    "application/x-mach-binary": ("", "a Mach-O program"),
    "application/vnd.microsoft.portable-executable": ("", "a Windows program"),
    "application/wasm": ("wasm", "a WebAssembly module"),
    "image/png": ("png", "a PNG image"),
    "image/jpeg": ("jpg jpeg", "a JPEG image"),
    "image/gif": ("gif", "a GIF image"),
    "image/webp": ("webp", "a WebP image"),
    "image/tiff": ("tif tiff", "a TIFF image"),
    "image/bmp": ("bmp", "a BMP image"),
    "image/x-icon": ("ico", "an icon"),
    "audio/mpeg": ("mp3", "an MP3 recording"),
    "audio/ogg": ("ogg oga", "an Ogg recording"),
    "audio/flac": ("flac", "a FLAC recording"),
    "audio/wav": ("wav", "a WAV recording"),
    "video/mp4": ("mp4 m4v mov m4a", "an MP4 recording"),
    "video/x-matroska": ("mkv webm", "a Matroska recording"),
    "video/x-msvideo": ("avi", "an AVI recording"),
    "font/woff": ("woff woff2", "a web font"),
    "font/ttf": ("ttf otf", "a font"),
}
# Whole names of files, lower case, that have no telling extension.
_NAMES = {
    "makefile": "text/x-makefile",
    "gnumakefile": "text/x-makefile",
    "dockerfile": "text/x-dockerfile",
    "containerfile": "text/x-dockerfile",
    "cmakelists.txt": "text/x-cmake",
    "gemfile": "text/x-ruby",
    "rakefile": "text/x-ruby",
    "jenkinsfile": "text/x-groovy",
    ".gitignore": "text/x-ini",
    ".gitattributes": "text/x-ini",
    ".env": "text/x-ini",
    ".editorconfig": "text/x-ini",
}

PROSE_TYPES = frozenset(_PROSE)
RECORD_TYPES = frozenset(_RECORDS)
LANGUAGES = MappingProxyType({media_type: entry[2] for media_type, entry in _CODE.items()})
"""Language of the code blocks of each media type that is code or configuration."""
TEXT_TYPES = frozenset({*_PROSE, *_MARKUP, *_RECORDS, *_CODE})
"""Media types whose bytes are encoded text."""

_EXTENSIONS = {
    extension: media_type
    for table in (_PROSE, _MARKUP, _RECORDS, _CODE, _OTHER)
    for media_type, entry in table.items()
    for extension in entry[0].split()
}
_DESCRIPTIONS = {
    media_type: entry[1]
    for table in (_PROSE, _MARKUP, _RECORDS, _CODE, _OTHER)
    for media_type, entry in table.items()
}


def type_by_name(name: str) -> str | None:
    """Media type that the file name promises; ``None`` if it promises nothing."""
    base = name.replace("\\", "/").rpartition("/")[2].lower()
    if base in _NAMES:
        return _NAMES[base]
    stem, dot, extension = base.rpartition(".")
    return _EXTENSIONS.get(extension) if dot and (stem or extension == "env") else None


def describe(media_type: str) -> str:
    """The media type as a person would call it, such as ``a PNG image``."""
    return _DESCRIPTIONS.get(media_type, media_type)
