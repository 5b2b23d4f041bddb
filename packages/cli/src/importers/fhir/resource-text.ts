import { isObject, type JsonObject, textAt } from './json-values.ts';

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
