"""What each code of an error, a finding or a status means.

A test holds this list and the codes that the package uses together.
"""

from __future__ import annotations

from difflib import get_close_matches

from merestone.types.errors import NotFoundError

CODES: dict[str, str] = {
    # Settings and wrong use
    "access-copy-unwritable": (
        "The last complete file of access rules can't be copied into the state folder. Rules are "
        "in force as they stand; should the file become incomplete, an older copy goes on."
    ),
    "access-file-incomplete": (
        "The file of access rules is not there, can't be read, has another form or does not say "
        "that it is complete. The last complete one goes on; if there never was one, nobody but "
        "the owner may read anything."
    ),
    "access-rule-idle": (
        "A rule of access matches no document of today, so that it protects nothing. Its paths are "
        "those inside the source; the folder of the source is no part of them."
    ),
    "ambiguous-asker": (
        "A question names principals and asks as the owner at once. Ask as one or the other."
    ),
    "ambiguous-quote": (
        "A quote that should say where an answer stands is in the document several times. Quote "
        "more of it, or say which place is meant."
    ),
    "ambiguous-version": (
        "Several versions of the document begin with the abbreviation that a reference gives. "
        "Give more of it; `history` lists the versions whole."
    ),
    "config-exists": (
        "`init` found a merestone.toml and did not overwrite it. Edit the file, or remove "
        "it and run `init` again."
    ),
    "config-unreadable": (
        "A configuration file is not valid TOML, may not be read, or is gone although it held "
        "rules of access. The message names the file and the place of the fault."
    ),
    "empty-query": "A search needs words. White space alone asks for nothing.",
    "query-not-text": "A search or a context was asked for something that is no text.",
    "export-needs-library": (
        "The format has the texts of the documents in it, and no library was given to take them "
        "from. Give one, or choose another format."
    ),
    "extra-missing": (
        "What was asked for needs a package that is not installed by default. The message names "
        "the extra that brings it."
    ),
    "invalid-budget": (
        "A budget is a whole number of tokens from 0 on, and its parts must leave something of the "
        "model's limit. The message says what takes how much."
    ),
    "invalid-chunk-size": (
        "Sizes that can't be met together, such as a target above the limit or an overlap "
        "of more than half a chunk. The message names the setting."
    ),
    "ambiguous-comparison": (
        "Recorded runs and configurations that are to be tried were named in one comparison. "
        "Compare one or the other."
    ),
    "invalid-configuration": (
        "A configuration that is to be tried can't be read, has no name, or changes what can't be "
        "tried. Write it as table.key=value, or as a table in a file."
    ),
    "nothing-to-compare": (
        "A comparison needs two configurations or two runs at least. Name another one."
    ),
    "too-few-questions": (
        "Tuning chooses by one half of the questions and confirms on the other, and there are not "
        "even two to split; fitting relevance or the weight of a side needs fifty. Write more; "
        "with fewer than thirty little can be told."
    ),
    "invalid-citation": (
        "A file that was given as a reference does not hold a citation. It needs the keys "
        "document, version, start and end, as every hit has them, or is an annotation of the W3C "
        "model with a selector of text."
    ),
    "invalid-document": (
        "What was to be cut is neither a document nor its text, or a document whose blocks do not "
        "fit its text. Read it first."
    ),
    "invalid-filter": (
        "The text of a filter can't be read. The message says at which character; "
        "docs/filters.md has the language."
    ),
    "invalid-name": (
        "Something other than a list of names was given where documents or paths are wanted. Give "
        "texts or paths."
    ),
    "invalid-limit": (
        "Tuning holds other configurations against the library as it is, so that it needs two at "
        "least. Give a limit of 2 or more."
    ),
    "invalid-k": "A search has to ask for at least one hit.",
    "invalid-target": (
        "Indexes are compared on at least one query and one row, with a target above 0 and at most "
        "1. The target is the share of the nearest passages that has to be found."
    ),
    "too-few-chunks": (
        "Indexes can be compared only on a library that holds some chunks. Below some tens of "
        "thousands the exact scan is right anyway."
    ),
    "invalid-pattern": ("A pattern of a source or an ignore file is not one that git would take."),
    "invalid-span": (
        "Something that should be a chunk or a range of a text is neither. Ranges are pairs of "
        "offsets in code points."
    ),
    "invalid-principal": (
        "Principals are written public or kind:name, such as user:bob or group:hr, with nothing "
        "around them. Case and Unicode form count."
    ),
    "invalid-query": (
        "The query of a source is not a single SELECT, or lacks a column that the source's "
        "settings name. The message says which; nothing is ever written to a source."
    ),
    "invalid-setting": "A setting has a value of the wrong type or out of its range.",
    "invalid-window": (
        "Windows need a whole size of at least 1 and an overlap from 0 to size - 1."
    ),
    "invalid-questions": (
        "A file of questions has lines that can't be read. The message names each line and what is "
        "wrong with it; nothing of the file is used until they are mended."
    ),
    "library-closed": "A library was used after it was closed. Open it again.",
    "max-tokens-too-large": (
        "Chunks would be longer than what the embedder reads; the rest of each would "
        "never be embedded. Lower chunking.max_tokens."
    ),
    "max-tokens-too-small": (
        "The limit has no room for the special tokens, or for a single character that "
        "takes several tokens. Raise it."
    ),
    "no-configuration": (
        "Neither the folder nor any above it holds a merestone.toml. `merestone init` writes one."
    ),
    "gate-not-comparable": (
        "A run and its baseline have no question or no measure in common, so neither is better. "
        "Make a new baseline, or name a measure that both have."
    ),
    "invalid-run": (
        "A file that should be the record of an evaluation is none, or of a newer version. "
        "The message says what is missing; `merestone eval` writes one."
    ),
    "no-baseline": (
        "A gate has nothing to hold a run against: no baseline and no named questions. "
        "`merestone gate --update-baseline` makes a baseline."
    ),
    "no-questions": (
        "An evaluation was asked for with an empty list of questions. "
        "Write some, or let `merestone questions suggest` draft them."
    ),
    "unknown-view": (
        "A part of an evaluation was chosen that does not exist, or none at all. "
        "The message lists the names."
    ),
    "no-runs": "A report was asked for without a run to tell of. `merestone eval` records one.",
    "owner-only": (
        "There are rules of access, in the configuration or in the front matter of a document, and "
        "what was asked for looks at the whole library. Ask as the owner, with --as-owner or "
        "as_owner=True."
    ),
    "passage-changed": (
        "A passage that was to be kept as an answer is not in its document any more as it was. "
        "Search again and name the passage as it is now."
    ),
    "question-exists": (
        "A question of that id is in the file already and says something else. Give another id, or "
        "edit the file."
    ),
    "questions-busy": (
        "Another process kept the file of questions for half a minute while this one wanted to "
        "change it. Nothing was changed; wait until the other is done, or end it."
    ),
    "questions-not-found": (
        "There is no file of questions where one was looked for, or not just one. `merestone "
        "questions add` and `suggest` begin one."
    ),
    "suggest-not-configured": (
        "A model is to word draft questions, and only one of its address and its name is set. Set "
        "url and model of [evaluation.suggest], or neither."
    ),
    "suggest-refused": (
        "The endpoint that is to word draft questions refuses to: a wrong key, model or address. "
        "The message has its own words; `suggest --rules` needs none."
    ),
    "semantic-needs-embedder": (
        "A strategy that judges by meaning was asked for without an embedder. Give one, or set "
        "semantic_weight = 0."
    ),
    "span-outside-text": (
        "A cutting that is to be examined has a range that the document's text does not. "
        "Offsets count code points of the text as Merestone read it, not bytes."
    ),
    "invalid-tokenizer": (
        "What is to count tokens is neither a tokenizer nor the name or the file of one. Names are "
        "words, characters, and those of OpenAI's encodings such as cl100k_base."
    ),
    "tokenizer-unreadable": "The file is not a tokenizer.json of the Hugging Face format.",
    "unknown-expansion": (
        "A passage grows by the rules structure, none, section, parent, window:N or neighbours:N. "
        "N counts sentences on each side, or chunks."
    ),
    "configuration-not-written": (
        "`tune --write` could not put its tables into a configuration file as that is written, "
        "with inline tables for instance. The file was left as it was; copy the printed table."
    ),
    "two-configurations": (
        "A folder has a merestone.toml and settings in its pyproject.toml too, so rules of access "
        "in one of them could be taken to be in force and are not. Keep all settings in one file."
    ),
    "unknown-format": (
        "Questions are read and written in a few formats only. The message lists their names."
    ),
    "unknown-measure": (
        "A measure was asked for that does not exist under that name. Measures of documents have "
        "the names of ir-measures, such as nDCG@10."
    ),
    "unknown-mode": "A search runs in the mode hybrid, dense or lexical.",
    "unknown-plugin": (
        "No strategy, embedder or reader of that name is installed. The message lists "
        "those that are."
    ),
    "unknown-source": (
        "A rule of access is for a source that the configuration does not have. A rule that can "
        "never match would protect nothing; mend the name."
    ),
    "unknown-setting": (
        "A configuration file or a MERESTONE_ variable has a key that no setting has. The "
        "message gives the nearest one."
    ),
    "broken-plugin": (
        "A plugin is installed but fails to load. Its package has to be mended or "
        "removed; the log says why."
    ),
    # Sources
    "broken-link": (
        "A symbolic link leads to nothing, or in a circle. It is told of once; what was stored "
        "of it stays until the link is removed."
    ),
    "document-gone": (
        "A document went between listing and reading. The next sync takes notice of it."
    ),
    "duplicate-key": (
        "Several rows or records of a source have one key, so which of them is the document is "
        "not known. Choose a key that each has for itself; nothing of the source was touched."
    ),
    "file-unreadable": (
        "The system does not let the file be read, or it vanished. It is tried again by "
        "the next sync; what is stored stays."
    ),
    "file-in-use": (
        "An export was to be written over the library, one of its documents, or a file among "
        "them that no command wrote. Name another file."
    ),
    "list-invalid": (
        "What should be a list of pages or a sitemap is another thing, or was cut short. "
        "Nothing of the source counts as gone."
    ),
    "not-a-file": "A pipe, a device or a socket was named where a file was wanted.",
    "file-unwritable": "The file that an export should go to can't be written.",
    "large-deletion": (
        "More than 30 % of the documents, and more than two, are gone from the sources: "
        "perhaps a folder is not mounted. Nothing was changed. Sync with --allow- "
        "deletions if it is right."
    ),
    "not-watchable": (
        "The system can't tell of changes in a source's folder, often because it watches as many "
        "folders as it may. `sync --watch` looks at it now and then instead; raise the system's "
        "limit (fs.inotify.max_user_watches on Linux), or give --every a smaller number."
    ),
    "path-is-folder": "A file was wanted and a folder was named.",
    "path-not-found": "A path does not exist, or is in no source and no known document.",
    "query-failed": (
        "A database did not answer the query of a source to its end. What is stored of it "
        "stays; the message has the database's own words."
    ),
    "record-key-too-long": (
        "Rows of a source have keys with more bytes than a document may have. They are left out "
        "and told of once, and nothing of the source is removed while there are such."
    ),
    "record-line-invalid": (
        "A line of a file of records is no JSON object, so it could be any document. The others "
        "are read, and nothing is removed until the file is mended."
    ),
    "record-line-too-large": (
        "A line of a file of records has more bytes than a document may have, and no key among the "
        "first of them, so it could be any document. The others are read, and nothing is removed "
        "until the key stands first or the line is shorter."
    ),
    "record-without-key": (
        "Rows or records of a source have no key (NULL or empty), so they can have no id. They "
        "are left out and told of once."
    ),
    "robots-disallow": (
        "The robots.txt of a server closes pages to programs that a list or a sitemap names. They "
        "are not fetched and told of once, and what is stored of them stays; exclude them, or set "
        "robots = false on the source if you may fetch them."
    ),
    "redirect-refused": (
        "A page leads on too often, to something other than a page, out of encryption or from a "
        "public host into a private network, by an address or by a name of one. Name the page that "
        "it should lead to."
    ),
    "page-missing": (
        "The settings or a list name a page, and its server says that there is none. Mend the "
        "address or take it out; it is told once, and status goes on listing it."
    ),
    "source-changed": ("A file was changed between listing and reading. Sync again."),
    "source-failed": (
        "A source, perhaps a plugin, ended with an error of its own, or its file is damaged. "
        "The other sources are not affected, and what is stored of it stays."
    ),
    "source-unreachable": (
        "A source, or a document of it, can't be reached now: no network, a lock, a timeout, an "
        "error of the server. What is stored stays, and the next sync tries again."
    ),
    "watch-failed": (
        "A sync of `sync --watch` ended with a fault of Merestone's own, which the log has in "
        "full. It is tried again; report it."
    ),
    # Reading
    "access-unreadable": (
        "A document's front matter, or its row, has `access`, but not as a list of principals. "
        "Nobody but the owner may read it until that is mended."
    ),
    "chunker-failed": (
        "A strategy of cutting ended with an error of its own, which the message names. The other "
        "documents are not affected; report it to the strategy's author."
    ),
    "code-not-parsed": (
        "A source file is too large or too irregular for the grammar of its language. It was read "
        "whole, but without its functions and classes."
    ),
    "document-needs-memory": (
        "Reading the document took more memory than it may have. Split it, or raise "
        "extraction.worker_memory_bytes."
    ),
    "document-too-large": (
        "The document has more bytes than extraction.max_document_bytes. Split it, or "
        "raise the limit."
    ),
    "empty-document": "The document was read and holds no text.",
    "extractor-failed": (
        "A reader ended with an error of its own, which the message names. The other "
        "documents are not affected; report it to the reader's author."
    ),
    "grammar-unavailable": (
        "The grammar of a programming language cannot be loaded, so its files are read without "
        "functions and classes. Install Merestone again; the message names the grammar."
    ),
    "needs-ocr": (
        "The document holds pictures of text and no text. Run it through OCR and put the "
        "result in its place."
    ),
    "pdf-damaged": (
        "The PDF is damaged beyond what could be mended, or is none. Open and save it "
        "again with the program that made it."
    ),
    "pdf-encrypted": (
        "The PDF opens only with a password. Save a copy without one; a PDF that is only "
        "protected against changes is read as it is."
    ),
    "csv-ragged": (
        "Some rows have more or fewer fields than most. They are kept as they stand; a delimiter "
        "or a quote may be missing there."
    ),
    "csv-quote-open": (
        "A field begins with a quote that no other closes, so the quote was read as an ordinary "
        "sign and each line as a row. Close it, or double quotes that belong to the text."
    ),
    "json-line-invalid": (
        "Some lines of the file are no valid JSON. They are kept as text; the other lines are "
        "read as records."
    ),
    "json-cut-short": (
        "The file begins like a list of objects but does not go on as one: it is damaged, or it "
        "holds other values too. What comes behind the last object that was read is kept as text."
    ),
    "notebook-invalid": (
        "The notebook is no JSON, or holds no list of cells. Its source was read as text, so "
        "that nothing is lost; open and save it in Jupyter to repair it."
    ),
    "notebook-output-cut": (
        "Outputs of the notebook are longer than 20,000 characters. Their beginnings and ends "
        "were read and the middle was left out."
    ),
    "pdf-pages-damaged": (
        "Some pages of the PDF could not be read; the others were. The message names them, "
        "and the document's status is partial."
    ),
    "pdf-pages-need-ocr": (
        "Some pages of the PDF hold pictures of text and no text. The message names them; "
        "run the file through OCR if they matter."
    ),
    "pdf-repaired": (
        "The PDF's table of contents was lost and was made again from its parts. What stood "
        "in lost parts is missing, so the document's status is partial."
    ),
    "reader-crashed": (
        "The process that read the document died. Opening and saving the file with the "
        "program that made it often repairs it."
    ),
    "reading-timeout": (
        "The document was not read within the time that it may take. Split it, or raise "
        "the limits in [extraction]; it is tried again by the next sync."
    ),
    "uncertain-encoding": (
        "The encoding was guessed among single-byte ones that fit nearly any bytes. Set "
        "extraction.default_encoding if accented letters are wrong."
    ),
    "undecodable-bytes": (
        "Some bytes stand for nothing in the document's encoding and became U+FFFD; the "
        "message counts them. The document's status is partial."
    ),
    "unsupported-format": (
        "No reader takes this format; the message says what the bytes really are, "
        "whatever the name promises. Convert the file, exclude it, or install a plugin."
    ),
    # Embedding
    "api-key-missing": (
        "A service wants a key, and the environment variable that should hold it is not set. Keys "
        "are never written into a configuration."
    ),
    "bad-embedding-mode": (
        "embedding.mode is plain, late or plain+late. The last two need a model that runs here."
    ),
    "bad-embedding-size": "A setting of the embedder is out of its range.",
    "bad-on-overlong": "on_overlong is error, truncate or window.",
    "bad-pooling": (
        "Token vectors are made one by their mean, by the first (cls) or by the last. The model's "
        "card says which it was trained with."
    ),
    "bad-service-url": (
        "The address of a service has to begin with http and hold neither a password nor a query. "
        "A key goes into an environment variable that api_key_env names."
    ),
    "bad-template": (
        "A template needs one {text}, which stands for what is embedded. Some models write theirs "
        "themselves and take none."
    ),
    "embedder-needs-limit": (
        "It is not known how many tokens a model reads, or how it counts them. Without that the "
        "end of a chunk could be lost unseen; the message names the settings that say it."
    ),
    "embedder-needs-model": (
        "A service was named without a model. Write service:model, as the service calls it."
    ),
    "input-too-long": (
        "A text is longer than what the model reads. Cut it smaller, or say what should "
        "happen with embedding.on_overlong."
    ),
    "late-needs-mean-pooling": (
        "Late chunking averages token vectors, and this model was not trained for it. Use mode "
        "plain, or a model that pools by the mean."
    ),
    "late-needs-token-vectors": (
        "Late chunking and vectors of units are pooled from token vectors, which services and some "
        "runtimes do not give. Use mode plain, or a model that runs here."
    ),
    "model-damaged": (
        "A file of the model is not the one that was shipped. Install Merestone again."
    ),
    "model-unsuitable": (
        "A local model is of a kind that does not run here, or lacks a file. The message says "
        "which, and the remedy names other ways to run it."
    ),
    "reranker-needs-model": (
        "A reranker was named without a model. Write service:model, as the service calls it."
    ),
    "reranker-refused": (
        "A service does not answer such requests at all: a wrong key, address or model. The "
        "message has its own words; answers keep the order that they had."
    ),
    "reranker-unavailable": (
        "A service cannot be reached, or failed however often it was asked. Answers keep the order "
        "that they had."
    ),
    "service-refused": (
        "A service does not answer such requests at all: a wrong key, address or model. The "
        "message has its own words; it was asked once and not again."
    ),
    "service-unavailable": (
        "A service cannot be reached, or failed however often it was asked. What was embedded "
        "before is kept; the next sync goes on there."
    ),
    "text-refused": (
        "A service embeds other texts but not this one, even alone. Its document stays in its old "
        "version; the others are stored."
    ),
    "units-not-kept": (
        "The setting asks for a vector of each sentence, row or line, which a library cannot keep "
        "yet. Leave it false; what answers in a chunk is found without it."
    ),
    "unusable-scores": (
        "A reranker gave scores of another number than texts, or none that is a number. Answers "
        "keep the order that they had."
    ),
    "unusable-vectors": (
        "An embedder gave vectors of another number or dimension than asked for, or "
        "values that are no numbers. None of them was stored."
    ),
    # The store
    "archive-damaged": (
        "The archive of a library was cut short or changed since it was written. Nothing was "
        "imported; copy it again, or export the library again."
    ),
    "archive-too-new": (
        "A newer Merestone wrote the archive. Update, or export the library with this version."
    ),
    "archive-unreadable": ("The archive cannot be opened. The message has the system's reason."),
    "bad-vector": (
        "A vector to be stored or searched with has another dimension than the library, "
        "or values that are no numbers."
    ),
    "chunk-order": "Chunks to be stored are not numbered 0, 1, 2 …: a strategy is at fault.",
    "disk-full": (
        "There is no room on the disk. Nothing half was stored; make room and sync again."
    ),
    "duplicate-chunk": "Two chunks to be stored have one id: a strategy is at fault.",
    "file-size-limit": (
        "The system limits how large a file this process may write, and a file of the library "
        "would be larger. Nothing half was stored; raise the limit and sync again."
    ),
    "filter-too-deep": "A filter nests too deep. Write it with fewer parentheses.",
    "filter-too-large": (
        "A filter makes more comparisons than one query can hold. Use `in` with one list "
        "in place of many comparisons joined by `or`."
    ),
    "filter-not-joined": (
        "A filter in Python was used as true or false, which `and`, `or`, `not` and `a < b < c` do "
        "without saying so. Join filters by &, | and ~."
    ),
    "filter-value": (
        "A filter compares with a value that its operator cannot take, or is no filter at all. "
        "docs/filters.md says what can be compared."
    ),
    "library-exists": (
        "An archive was to be imported where there is a library already. Nothing was written "
        "over; name another folder, or move the old library away."
    ),
    "missing-vector": "A chunk to be stored has no vector. Nothing of its batch was stored.",
    "network-file-system": (
        "SQLite's locks don't hold on network file systems, so a library is not kept "
        "there. Put the folder on a local disk."
    ),
    "no-library": "There is no index yet. Run `merestone sync`.",
    "not-a-library": "The file is no library of Merestone. It was not touched.",
    "not-an-archive": (
        "The file is none that `export --library` wrote: it holds other files, links, or far more "
        "than it should. Nothing of it was unpacked."
    ),
    "pragma-refused": "SQLite did not accept a setting that the library's safety rests on.",
    "put-mismatch": (
        "Parts of a document to be stored disagree: record, text and chunks must be of "
        "one document and version."
    ),
    "library-changing": (
        "The library was written to each time when several askers were to see one state of it. "
        "Evaluate when no sync is at work."
    ),
    "reader-keeps-log": (
        "`gc --purge` could not cut the log of the library, since a reader keeps an older state; "
        "the message names its process. End that reading and purge again."
    ),
    "schema-too-new": (
        "A newer Merestone wrote the library. Use that version, or sync into a new one."
    ),
    "schema-too-old": (
        "An older Merestone made the library, and its folder cannot be written to here. Make it "
        "writable once: the library is brought up to date without any embedding."
    ),
    "store-busy": (
        "Another process is writing; the message names it. Readers are not affected. Wait "
        "for it, or end it."
    ),
    "store-damaged": (
        "The library's file is damaged. Everything in it is made again from the sources "
        "by removing it and syncing."
    ),
    "store-failed": (
        "SQLite reported a fault that has no code of its own here; the message has it."
    ),
    "store-not-writable": "The library's folder or file may not be written to.",
    "store-unreachable": "The library's file cannot be opened.",
    "unwritable-with-log": (
        "The library lies on media that can't be written, with changes that were not yet "
        "merged. Open it once where it can be written."
    ),
    # Finding things
    "unknown-code": "`explain` was given a code that no message has.",
    "run-not-found": (
        "No recorded evaluation has that name. Give a file, the first digits of its id, or `last`."
    ),
    "question-not-found": (
        "A question was named by an id that none in the file has. `merestone questions list` shows "
        "them."
    ),
    "quote-not-found": (
        "The words that should say where an answer stands are not in the document, or not so "
        "often. Copy them as `show` prints them."
    ),
    "reference-not-found": "No chunk, document or span is known under the reference.",
    "span-not-found": "The document is known, but has no such range of characters.",
    "version-not-found": "The document is known, but its text has changed since that version.",
    # Verification
    "count-differs": (
        "The tokens that a chunk says it has are not those that its tokenizer counts."
    ),
    "cut-differs": "Cutting the stored text again gives other chunks than those stored.",
    "embedder-changed": (
        "The stored vectors are of another embedder than the configured one. Vectors of "
        "two embedders never meet in a search; set the embedder back, or remove "
        ".merestone/library.db and sync again."
    ),
    "not-synced": "A document was cut with other settings than the configured ones. Sync.",
    "over-limit": "A chunk's embedder input is longer than max_tokens.",
    "read-differs": (
        "Reading the source again gives another text than the one stored, although the "
        "bytes are the same."
    ),
    "slice-differs": "A chunk's text is not what stands in the document at its place.",
    "store-inconsistent": "Rows, lexical index and vectors disagree, or the file is damaged.",
    "text-missing": "A document has a record, but no stored text.",
    "text-uncovered": ("A character of a document's body is in no chunk and in no dropped range."),
    "vector-differs": "A stored vector is not the one that the chunk's text gives.",
}


STATUSES: dict[str, str] = {
    "ok": "The document was read whole.",
    "partial": "Part of the document could not be read; what could be is served. The problem that "
    "`status` lists with it says what is missing.",
    "empty": CODES["empty-document"],
    "needs_ocr": CODES["needs-ocr"],
    "encrypted": CODES["pdf-encrypted"],
    "unsupported": CODES["unsupported-format"],
    "too_large": CODES["document-too-large"],
    "timeout": CODES["reading-timeout"],
    "memory": CODES["document-needs-memory"],
    "crashed": "The reader failed on the document; other documents are not affected.",
    "unreadable": "The file can't be read, or is too damaged to be.",
}
"""What each status of a document means."""


MISSES: dict[str, str] = {
    "not-in-corpus": "The library has no document of that name, or the asker may not know of it. "
    "See to the sources, or to the rules of access.",
    "no-text": "No text could be read from the document that answers. `status --no-text` lists "
    "such documents with the reason.",
    "not-indexed": "The answer stands in a part of the document that no chunk holds, such as the "
    "menu of a page. Name another place that answers.",
    "filtered": "Access, the question's scope, a filter or retrieval.min_relevance leaves the "
    "answer out. The sentence beside it says which of them.",
    "outranked": "The chunk with the answer is there, and others rank before it. Another embedder, "
    "a reranker, or other context in chunks may help.",
    "copy-served": "A near-duplicate was served in the place of the answer. If both answer, name "
    'both as evidence, with match = "any".',
    "cut-by-boundary": "No chunk holds the answer whole, and only a part of it came in. Larger "
    "chunks, overlap or another retrieval.expand may help.",
    "dropped-by-budget": "The answer was among the candidates, and what ranked before it filled "
    "the budget. A larger budget or smaller chunks may help.",
    "answered-falsely": "Nothing in the library answers the question, and that was not said. See "
    "to retrieval.relevance, which can be fitted on your questions.",
}
"""What each reason for a missed question means."""

OUTCOMES: dict[str, str] = {
    "same": "The text stands where it stood. Nothing has to be done.",
    "moved": "The very text stands at another place now, or in another document. It is followed "
    "there.",
    "changed": "Another text stands in its place, or the likeliest of several places was taken. "
    "Someone should look.",
    "gone": "The text stands nowhere any more. What took its place can't be told.",
    "no-document": "The library has no document of that name, or the asker may not know of it. Its "
    "questions count as missed.",
}
"""What became of a passage, or of the evidence of a question, since it was noted."""


def explain(code: str) -> str:
    """The meaning of a code, a status, a reason for a miss or an outcome; ``NotFoundError``, with
    the nearest one, for an unknown one."""
    known = {**OUTCOMES, **MISSES, **STATUSES, **CODES}
    if code in known:
        return known[code]
    near = get_close_matches(code, known, 1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise NotFoundError(
        "unknown-code",
        f"There is no code {code!r}.",
        f"{hint}Codes stand in square brackets at the end of a message.",
    )
