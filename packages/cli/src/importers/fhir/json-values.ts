/** An unvalidated JSON object. */
export type JsonObject = { readonly [member: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object's own member, never an inherited one. */
export function memberOf(value: JsonObject, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The value at a path of member names and positions; undefined if the path does not exist. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof step === 'number') current = Array.isArray(current) ? current[step] : undefined;
    else current = isObject(current) ? memberOf(current, step) : undefined;
  }
  return current;
}

/** The plain text at a path; empty if there is none. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? toPlainText(found) : '';
}

/** The finite number at a path; null if there is none. */
export function numberAt(value: unknown, ...path: readonly (string | number)[]): number | null {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : null;
}

/** The list at a path; empty if there is none. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

// Longer texts are truncated before cleaning; stored texts are far shorter.
const LONGEST_TEXT = 20_000;

/** Converts to one line without markup, control characters or partial characters. */
function toPlainText(text: string): string {
  return text
    .slice(0, LONGEST_TEXT)
    .toWellFormed()
    .replaceAll(/<\/?[a-z][^<>]*>/gi, ' ')
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
}

/** Truncates to at most `length` UTF-16 units with an ellipsis, without splitting a character. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length - 1);
  const whole = cut.isWellFormed() ? cut : cut.slice(0, -1);
  return `${whole.trimEnd()}…`;
}

// FHIR resources nest about 20 levels deep. Deeper nesting is an attempt to exhaust the stack.
const MAX_DEPTH = 100;

/** Parses one resource, or returns the problem, such as `is not valid JSON`. */
export function parseResource(text: string): JsonObject | string {
  if (isTooDeep(text)) return `nests deeper than ${MAX_DEPTH} levels`;
  const value = parseJson(text);
  if (value === undefined) return 'is not valid JSON';
  return isObject(value) && textAt(value, 'resourceType') !== '' ? value : 'is not a FHIR resource';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Checked before parsing, because building deep structures is the expensive part. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** The end of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
