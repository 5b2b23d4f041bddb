import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A statement that each connection prepares once, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Reads a statement from its `.sql` file, whose name it gets. Called when a module loads, so a missing file fails at the start. */
export function readStatement(file: URL): Statement {
  return { name: basename(file.pathname, '.sql'), text: readFileSync(file, 'utf8') };
}
