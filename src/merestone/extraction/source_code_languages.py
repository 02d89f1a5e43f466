"""What the grammar of each programming language calls its definitions, bodies and comments.

Names of node types are those of the published tree-sitter grammars; a test holds every name here
against the grammar that is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Definition:
    """How a node that defines something is read."""

    kind: str
    """``symbol_kind`` of its block, unless ``kinds`` says otherwise."""
    name: str = "name"
    """Field that holds the name, below it by way of fields called ``declarator``."""
    value: str = ""
    """Field whose node's type decides the kind, by ``kinds``; also where the body is looked for."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    """Words of the header that are the kind, where one node type serves for several."""
    needs_body: bool = False
    """True if without a body it only mentions what is defined elsewhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The words of one grammar."""

    module: str
    """Python package of the grammar."""
    function: str = "language"
    """Its function that gives the grammar."""
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    containers: frozenset[str] = frozenset()
    """Nodes whose children are statements, members, cases or elements."""
    transparent: frozenset[str] = frozenset()
    """Containers that do not nest what they hold, such as a conditional of the preprocessor."""
    wrappers: frozenset[str] = frozenset()
    """Statements around one definition, such as an export; a container if they hold several."""
    clauses: frozenset[str] = frozenset()
    """Continuations of a statement that begin a block of their own, such as ``else``."""
    comments: frozenset[str] = frozenset({"comment"})
    marks: frozenset[str] = frozenset()
    """Decorators, attributes and annotations: in front of a definition, no part of its header."""
    modifiers: frozenset[str] = frozenset()
    """Nodes that hold marks and parts of the header side by side."""
    docstrings: frozenset[str] = frozenset()
    """Statements that may be nothing but a string that documents."""


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


_FUNCTION, _METHOD, _CLASS = Definition("function"), Definition("method"), Definition("class")
_INTERFACE, _ENUM, _TYPE = Definition("interface"), Definition("enum"), Definition("type")
_STRUCT, _TRAIT, _NAMESPACE = Definition("struct"), Definition("trait"), Definition("namespace")
_MODULE = Definition("module")

_PYTHON = Language(
    "tree_sitter_python",
    definitions={
        "function_definition": _FUNCTION,
        "class_definition": _CLASS,
        "assignment": Definition("constant", name="left", value="right"),
        "type_alias_statement": Definition("type", name="left"),
    },
    containers=_words("block dictionary list set"),
    wrappers=_words("decorated_definition expression_statement"),
    clauses=_words("elif_clause else_clause except_clause finally_clause"),
    marks=_words("decorator"),
    docstrings=_words("expression_statement"),
)

_VALUES = {
    "arrow_function": "function",
    "function_expression": "function",
    "generator_function": "function",
    "class": "class",
}
_JAVASCRIPT_DEFINITIONS = {
    "function_declaration": _FUNCTION,
    "generator_function_declaration": _FUNCTION,
    "class_declaration": _CLASS,
    "method_definition": _METHOD,
    "variable_declarator": Definition("constant", value="value", kinds=_VALUES),
    "assignment_expression": Definition("constant", name="left", value="right", kinds=_VALUES),
    "pair": Definition("constant", name="key", value="value", kinds=_VALUES),
}
_JAVASCRIPT = Language(
    "tree_sitter_javascript",
    definitions={
        **_JAVASCRIPT_DEFINITIONS,
        "field_definition": Definition("constant", name="property", value="value", kinds=_VALUES),
    },
    containers=_words(
        "statement_block class_body switch_body switch_case switch_default object array jsx_element"
    ),
    wrappers=_words(
        "export_statement lexical_declaration variable_declaration expression_statement"
    ),
    clauses=_words("else_clause catch_clause finally_clause"),
    marks=_words("decorator"),
)
_TYPESCRIPT = Language(
    "tree_sitter_typescript",
    "language_typescript",
    definitions={
        **_JAVASCRIPT_DEFINITIONS,
        "public_field_definition": Definition("constant", value="value", kinds=_VALUES),
        "abstract_class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "type_alias_declaration": Definition("type", value="value"),
        "internal_module": _NAMESPACE,
        "module": _MODULE,
        "function_signature": _FUNCTION,
        "method_signature": _METHOD,
        "abstract_method_signature": _METHOD,
    },
    containers=_words(
        "statement_block class_body switch_body switch_case switch_default object array"
        " interface_body enum_body object_type"
    ),
    wrappers=_JAVASCRIPT.wrappers | {"ambient_declaration"},
    clauses=_JAVASCRIPT.clauses,
    marks=_JAVASCRIPT.marks,
)
_TSX = Language(
    "tree_sitter_typescript",
    "language_tsx",
    definitions=_TYPESCRIPT.definitions,
    containers=_TYPESCRIPT.containers | {"jsx_element"},
    wrappers=_TYPESCRIPT.wrappers,
    clauses=_TYPESCRIPT.clauses,
    marks=_TYPESCRIPT.marks,
)

_JAVA = Language(
    "tree_sitter_java",
    definitions={
        "class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "annotation_type_declaration": _INTERFACE,
        "enum_declaration": _ENUM,
        "record_declaration": _CLASS,
        "method_declaration": _METHOD,
        "constructor_declaration": _METHOD,
        "compact_constructor_declaration": _METHOD,
        "module_declaration": _MODULE,
        "field_declaration": Definition("constant", name="declarator", value="declarator"),
    },
    containers=_words(
        "block class_body interface_body enum_body enum_body_declarations constructor_body"
        " annotation_type_body switch_block switch_block_statement_group array_initializer"
        " module_body"
    ),
    clauses=_words("catch_clause finally_clause"),
    comments=_words("line_comment block_comment"),
    marks=_words("annotation marker_annotation"),
    modifiers=_words("modifiers"),
)

_GO = Language(
    "tree_sitter_go",
    definitions={
        "function_declaration": _FUNCTION,
        "method_declaration": _METHOD,
        "type_spec": Definition(
            "type",
            value="type",
            kinds={"struct_type": "struct", "interface_type": "interface"},
        ),
        "type_alias": Definition("type", value="type"),
        "const_spec": Definition("constant", value="value"),
        "var_spec": Definition("constant", value="value"),
    },
    containers=_words(
        "block statement_list field_declaration_list interface_type literal_value expression_case"
        " default_case type_case communication_case var_spec_list expression_switch_statement"
        " type_switch_statement select_statement import_spec_list"
    ),
    transparent=_words("statement_list var_spec_list"),
    wrappers=_words("type_declaration const_declaration var_declaration"),
)

_RUST = Language(
    "tree_sitter_rust",
    definitions={
        "function_item": _FUNCTION,
        "function_signature_item": _FUNCTION,
        "struct_item": _STRUCT,
        "union_item": _STRUCT,
        "enum_item": _ENUM,
        "trait_item": _TRAIT,
        "impl_item": Definition("impl", name="type"),
        "mod_item": Definition("module", needs_body=True),
        "type_item": Definition("type", value="type"),
        "const_item": Definition("constant", value="value"),
        "static_item": Definition("constant", value="value"),
        "macro_definition": Definition("macro"),
    },
    containers=_words(
        "block declaration_list field_declaration_list enum_variant_list match_block"
        " array_expression field_initializer_list macro_definition use_list"
    ),
    clauses=_words("else_clause"),
    comments=_words("line_comment block_comment"),
    marks=_words("attribute_item"),
)

_C_DEFINITIONS = {
    "function_definition": Definition("function", name="declarator"),
    "declaration": Definition(
        "constant", name="declarator", value="declarator", kinds={"function_declarator": "function"}
    ),
    "struct_specifier": Definition("struct", needs_body=True),
    "union_specifier": Definition("struct", needs_body=True),
    "enum_specifier": Definition("enum", needs_body=True),
    "type_definition": Definition(
        "type",
        name="declarator",
        value="type",
        kinds={"struct_specifier": "struct", "union_specifier": "struct", "enum_specifier": "enum"},
    ),
    "preproc_function_def": Definition("macro", value="value"),
    "preproc_def": Definition("constant", value="value"),
}
_C_CONTAINERS = (
    "compound_statement case_statement field_declaration_list enumerator_list initializer_list"
    " declaration_list"
)
_C_TRANSPARENT = _words("preproc_if preproc_ifdef preproc_elif preproc_else linkage_specification")
_C = Language(
    "tree_sitter_c",
    definitions=_C_DEFINITIONS,
    containers=_words(_C_CONTAINERS),
    transparent=_C_TRANSPARENT,
    clauses=_words("else_clause"),
)
_CPP = Language(
    "tree_sitter_cpp",
    definitions={
        **_C_DEFINITIONS,
        "class_specifier": Definition("class", needs_body=True),
        "namespace_definition": Definition("namespace", needs_body=True),
        "alias_declaration": Definition("type", value="type"),
        "concept_definition": _TYPE,
    },
    containers=_words(_C_CONTAINERS),
    transparent=_C_TRANSPARENT,
    wrappers=_words("template_declaration"),
    clauses=_words("else_clause catch_clause"),
    marks=_words("attribute_declaration"),
)

_CSHARP = Language(
    "tree_sitter_c_sharp",
    definitions={
        "namespace_declaration": _NAMESPACE,
        "class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "struct_declaration": _STRUCT,
        "record_declaration": _CLASS,
        "enum_declaration": _ENUM,
        "delegate_declaration": _TYPE,
        "method_declaration": _METHOD,
        "constructor_declaration": _METHOD,
        "destructor_declaration": _METHOD,
        "operator_declaration": Definition("method", name="operator"),
        "property_declaration": Definition("method", value="accessors"),
        "local_function_statement": _FUNCTION,
    },
    containers=_words(
        "block declaration_list enum_member_declaration_list accessor_list switch_body"
        " switch_section initializer_expression"
    ),
    transparent=_words("preproc_if preproc_elif preproc_else"),
    wrappers=_words("global_statement"),
    clauses=_words("catch_clause finally_clause"),
    marks=_words("attribute_list"),
)

_RUBY = Language(
    "tree_sitter_ruby",
    definitions={
        "class": _CLASS,
        "module": _MODULE,
        "method": _METHOD,
        "singleton_method": _METHOD,
        "assignment": Definition("constant", name="left", value="right"),
    },
    containers=_words("body_statement block_body then else ensure do case hash array"),
    clauses=_words("elsif else when rescue ensure in_clause"),
)

_PHP = Language(
    "tree_sitter_php",
    "language_php",
    definitions={
        "namespace_definition": Definition("namespace", needs_body=True),
        "class_declaration": _CLASS,
        "interface_declaration": _INTERFACE,
        "trait_declaration": _TRAIT,
        "enum_declaration": _ENUM,
        "function_definition": _FUNCTION,
        "method_declaration": _METHOD,
    },
    containers=_words(
        "compound_statement declaration_list enum_declaration_list switch_block case_statement"
        " default_statement array_creation_expression match_block"
    ),
    clauses=_words("else_clause else_if_clause catch_clause finally_clause"),
    marks=_words("attribute_list"),
)

_BASH = Language(
    "tree_sitter_bash",
    definitions={"function_definition": _FUNCTION},
    containers=_words(
        "compound_statement do_group if_statement elif_clause else_clause case_statement case_item"
        " subshell array"
    ),
    clauses=_words("elif_clause else_clause"),
)

_KOTLIN = Language(
    "tree_sitter_kotlin",
    definitions={
        "class_declaration": Definition("class", words=("interface", "enum")),
        "object_declaration": _CLASS,
        "companion_object": _CLASS,
        "function_declaration": _FUNCTION,
    },
    containers=_words("block class_body enum_class_body when_expression"),
    transparent=_words("function_body"),
    comments=_words("line_comment block_comment"),
    marks=_words("annotation"),
    modifiers=_words("modifiers"),
)

_SCALA = Language(
    "tree_sitter_scala",
    definitions={
        "class_definition": _CLASS,
        "object_definition": _CLASS,
        "trait_definition": _TRAIT,
        "enum_definition": _ENUM,
        "function_definition": _FUNCTION,
        "function_declaration": _FUNCTION,
        "type_definition": Definition("type", value="type"),
        "package_object": _MODULE,
    },
    containers=_words("block template_body indented_block case_block enum_body case_clause"),
    clauses=_words("catch_clause finally_clause"),
    comments=_words("comment block_comment"),
    marks=_words("annotation"),
)

_SWIFT = Language(
    "tree_sitter_swift",
    definitions={
        "class_declaration": Definition(
            "class",
            value="declaration_kind",
            kinds={"struct": "struct", "enum": "enum", "extension": "impl"},
        ),
        "protocol_declaration": _INTERFACE,
        "function_declaration": _FUNCTION,
        "protocol_function_declaration": _METHOD,
        "init_declaration": Definition("method"),
        "typealias_declaration": Definition("type", value="value"),
    },
    containers=_words(
        "statements class_body enum_class_body protocol_body switch_statement switch_entry"
    ),
    comments=_words("comment multiline_comment"),
    marks=_words("attribute"),
    modifiers=_words("modifiers"),
)

_LUA = Language(
    "tree_sitter_lua",
    definitions={"function_declaration": _FUNCTION},
    containers=_words("block table_constructor"),
    clauses=_words("elseif_statement else_statement"),
)

BY_MEDIA_TYPE: Mapping[str, Language] = MappingProxyType(
    {
        "text/x-python": _PYTHON,
        "text/javascript": _JAVASCRIPT,
        "text/typescript": _TYPESCRIPT,
        "text/x-java": _JAVA,
        "text/x-go": _GO,
        "text/x-rust": _RUST,
        "text/x-c": _C,
        "text/x-c++": _CPP,
        "text/x-csharp": _CSHARP,
        "text/x-ruby": _RUBY,
        "text/x-php": _PHP,
        "text/x-shellscript": _BASH,
        "text/x-kotlin": _KOTLIN,
        "text/x-scala": _SCALA,
        "text/x-swift": _SWIFT,
        "text/x-lua": _LUA,
    }
)
ALL_LANGUAGES = (*BY_MEDIA_TYPE.values(), _TSX)


def language_of(media_type: str, name: str, text: str) -> Language | None:
    """The language of a file; ``None`` if no grammar reads it.

    Some share a media type: TypeScript with and without markup, headers of C and C++, the shells.
    """
    extension = name.lower().rpartition(".")[2]
    if media_type == "text/typescript" and extension == "tsx":
        return _TSX
    if media_type == "text/x-c" and extension == "h" and _is_cpp(text):
        return _CPP
    if extension == "fish":
        return None
    return BY_MEDIA_TYPE.get(media_type)


def _is_cpp(text: str) -> bool:
    """True if a line of a header begins as no line of C does."""
    beginnings = ("class ", "namespace ", "template <", "template<", "using ", "public:")
    return any(line.lstrip().startswith(beginnings) for line in text.splitlines())
