import { foldName } from '@phds/catalog/folded-names';
import type { KnownApp, NamedApp } from '../../api/resources.ts';

/** The other known apps whose name can be taken for the app's, each with that name of its own. */
export function findLookAlikes(
  app: Pick<NamedApp, 'clientId' | 'name'>,
  known: readonly KnownApp[],
): Pick<KnownApp, 'clientId' | 'name' | 'redirectHost' | 'developerName'>[] {
  const plain = foldName(app.name);
  return known
    .filter(({ clientId }) => clientId !== app.clientId)
    .flatMap(({ clientId, name, currentName = name, ...rest }) => {
      const alike = [name, currentName].find((one) => foldName(one) === plain);
      return alike === undefined ? [] : [{ ...rest, clientId, name: alike }];
    });
}
