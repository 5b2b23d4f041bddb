import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A statement that each connection prepares once, by name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * Reads a statement from its `.sql` file, which also gives its name. A line `-- include: parts/x.sql` stands for the text of that file,
 * relative to this one. Called when a module loads, so a missing file stops start-up.
 */
export function readStatement(file: URL): Statement {
  return { name: basename(file.pathname, '.sql'), text: readText(file) };
}

function readText(file: URL): string {
  return readFileSync(file, 'utf8').replaceAll(/^-- include: (\S+)\n/gm, (_, part) =>
    readText(new URL(part, file)),
  );
}
