import type { Cause } from './cause.ts';
import { DATABASE_CAUSES } from './database-causes.ts';
import { PROCESS_CAUSES } from './process-causes.ts';
import { RESTORE_CAUSE } from './restore-cause.ts';

/** One fault or more for each alert. The last one replaces the database. */
export const CAUSES: readonly Cause[] = [...PROCESS_CAUSES, ...DATABASE_CAUSES, RESTORE_CAUSE];

/** The causes of these alerts; all causes for no names. Throws an error that names an unknown alert. */
export function chooseCauses(names: readonly string[]): readonly Cause[] {
  const unknown = names.filter((name) => !CAUSES.some(({ alert }) => alert === name));
  if (unknown.length > 0) throw new Error(`There is no cause for ${unknown.join(', ')}.`);
  return names.length === 0 ? CAUSES : CAUSES.filter(({ alert }) => names.includes(alert));
}
