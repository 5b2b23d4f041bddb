export interface Violation {
  /** Line of the statement, from 1. */
  readonly line: number;
  readonly what: string;
  /** The comment that would allow it; null when nothing does. */
  readonly marker: 'contract' | 'locks' | null;
}

export type Finding = Omit<Violation, 'line'>;

// biome-ignore lint/suspicious/noExplicitAny: the tree of the parser, whose nodes are looked at by their names
export type Node = any;

/** What the migration has done before the statement. */
export interface Before {
  readonly createdTables: ReadonlySet<string>;
  /** Text of its DO blocks. */
  readonly blocks: readonly string[];
  /** Whether the migration has no other statement. */
  readonly isAlone: boolean;
}

export const contract = (what: string): Finding => ({ what, marker: 'contract' });
export const locks = (what: string): Finding => ({ what, marker: 'locks' });
export const never = (what: string): Finding => ({ what, marker: null });

export const MAY_BE_TARGET = 'ON CONFLICT of the earlier release may name it';

/** A table named without its schema is in the schema of the service. */
export function nameOf({ schemaname, relname }: Node): string {
  return schemaname === undefined ? relname : `${schemaname}.${relname}`;
}
