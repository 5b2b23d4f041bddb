import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A statement that each connection prepares once, by name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * Reads a statement from its `.sql` file, which also gives its name. Called when a module loads, so a missing file stops start-up.
 */
export function readStatement(file: URL): Statement {
  return { name: basename(file.pathname, '.sql'), text: readFileSync(file, 'utf8') };
}
