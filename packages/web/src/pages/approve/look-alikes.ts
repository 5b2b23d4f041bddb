import type { KnownApp, NamedApp } from '../../api/resources.ts';

/** The other known apps whose name can be taken for the app's, each with that name of its own. */
export function findLookAlikes(
  app: Pick<NamedApp, 'clientId' | 'name'>,
  known: readonly KnownApp[],
): Pick<KnownApp, 'clientId' | 'name' | 'redirectHost'>[] {
  const plain = toPlain(app.name);
  return known
    .filter(({ clientId }) => clientId !== app.clientId)
    .flatMap(({ clientId, name, currentName = name, redirectHost }) => {
      const alike = [name, currentName].find((one) => toPlain(one) === plain);
      return alike === undefined ? [] : [{ clientId, name: alike, redirectHost }];
    });
}

/**
 * A name without what is easily overlooked: case, spaces, punctuation, and forms of the same letter. Symbols count only in a name
 * that has no letters and digits.
 */
function toPlain(name: string): string {
  const folded = name.normalize('NFKC').toLowerCase();
  return folded.replaceAll(/[^\p{L}\p{N}]/gu, '') || folded.trim();
}
