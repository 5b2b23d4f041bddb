import { type Scope, stillCovered } from '@phds/catalog/scopes';
import type { Grant } from '../api/resources.ts';

/** The live connections that give a type of data; `through` names the scopes that cover it if only these give it. */
export function findReaders(grants: readonly Grant[], scope: Scope) {
  return grants.flatMap((grant) => {
    if (grant.status !== 'active') return [];
    if (grant.scopes.includes(scope)) return [{ grant, through: [] }];
    const through = stillCovered([...grant.scopes, scope], [scope]).get(scope);
    return through === undefined ? [] : [{ grant, through }];
  });
}
