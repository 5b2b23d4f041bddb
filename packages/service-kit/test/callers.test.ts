import { describe, expect, test } from '@jest/globals';
import {
  AUDITORS,
  CONSENT_ENDERS,
  CONSENT_READERS,
  explainRefusal,
  INGESTERS,
  isAdmitted,
  OPERATORS,
  parseRoles,
  RECORD_WRITERS,
  SERVICE_ROLES,
  SUPPORTERS,
  TOKEN_INTROSPECTORS,
  VIEWERS,
} from '../src/trust/callers.ts';

const keySet = (...keys: readonly object[]) => JSON.stringify({ keys });

describe('the roles of operators', () => {
  test.each([
    ['viewer', [true, false, false, false]],
    ['support', [true, true, false, false]],
    ['operator', [true, true, true, false]],
    ['auditor', [true, false, false, true]],
  ])('%s is admitted as the table says: viewers, supporters, operators, auditors', (role, expected) => {
    const rolesOf = parseRoles(keySet({ kid: 'gateway' }, { kid: 'operator:on-call', roles: [role] }));
    const admits = [VIEWERS, SUPPORTERS, OPERATORS, AUDITORS].map((admitted) =>
      isAdmitted(admitted, 'operator:on-call', rolesOf),
    );
    expect(admits).toEqual(expected);
    expect(isAdmitted(VIEWERS, 'gateway', rolesOf)).toBe(false);
  });

  test('a service is admitted by its name, and no operator has the name of a service', () => {
    const rolesOf = parseRoles(keySet({ kid: 'operator:gateway', roles: ['operator'] }));
    expect(isAdmitted(['gateway'], 'gateway', rolesOf)).toBe(true);
    expect(isAdmitted(['gateway'], 'operator:gateway', rolesOf)).toBe(false);
  });

  test.each([
    [[{ kid: 'operator:On Call', roles: ['viewer'] }], '"operator:On Call" is not operator: and a name'],
    [[{ kid: 'operator:a' }], '"roles" of the key of "operator:a" must list some of viewer'],
    [[{ kid: 'operator:a', roles: ['viewer', 'admin'] }], '"roles" of the key of "operator:a" must list'],
    [
      [
        { kid: 'operator:a', roles: ['viewer'] },
        { kid: 'operator:a', roles: ['operator'] },
      ],
      'keys of "operator:a" have different roles',
    ],
    [[{ kid: 'service:Billing', roles: ['ingest'] }], '"service:Billing" is not service: and a name'],
    [
      [{ kid: 'service:billing' }],
      '"roles" of the key of "service:billing" must list some of token-introspection',
    ],
    [
      [{ kid: 'operator:a', roles: ['ingest'] }],
      '"roles" of the key of "operator:a" must list some of viewer',
    ],
    [[{ kid: 'role:operator' }], '"role:operator" is not the name of a caller'],
  ])('are refused in %j', (keys, message) => {
    expect(() => parseRoles(keySet(...keys))).toThrow(message);
  });
});

describe('the roles of services', () => {
  test.each(SERVICE_ROLES)('%s admits to its own rpcs only', (role) => {
    const rolesOf = parseRoles(keySet({ kid: 'service:billing', roles: [role] }));
    const all = [TOKEN_INTROSPECTORS, CONSENT_READERS, CONSENT_ENDERS, RECORD_WRITERS, INGESTERS];
    const admits = all.map((admitted) => isAdmitted(admitted, 'service:billing', rolesOf));
    expect(admits).toEqual(SERVICE_ROLES.map((other) => other === role));
    expect(isAdmitted(OPERATORS, 'service:billing', rolesOf)).toBe(false);
    expect(isAdmitted(['billing'], 'service:billing', rolesOf)).toBe(false);
  });

  test.each([
    ['service:billing', CONSENT_READERS, 'billing may not call ListGrants; it needs consent-reader'],
    ['service:billing', ['gateway'], 'billing may not call ListGrants; only gateway may'],
    ['service:billing', OPERATORS, 'billing may not call ListGrants; only the role operator may'],
    ['operator:ada', SUPPORTERS, 'ada may not call ListGrants; it needs support or operator'],
    [
      'gateway',
      ['authorization', ...INGESTERS],
      'gateway may not call ListGrants; only authorization or the role ingest may',
    ],
  ])('%s reads why it is refused where %j is admitted', (caller, admitted, message) => {
    expect(explainRefusal('ListGrants', admitted, caller)).toBe(message);
  });
});
