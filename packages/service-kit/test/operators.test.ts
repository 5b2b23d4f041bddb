import { describe, expect, test } from '@jest/globals';
import { AUDITORS, isAdmitted, OPERATORS, parseRoles, SUPPORTERS, VIEWERS } from '../src/trust/operators.ts';

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

  test('the former shared caller has no role', () => {
    const rolesOf = parseRoles(keySet({ kid: 'operator', roles: ['operator'] }));
    expect(isAdmitted(OPERATORS, 'operator', rolesOf)).toBe(false);
  });

  test.each([
    [[{ kid: 'operator:On Call', roles: ['viewer'] }], '"operator:On Call" is not operator: and a name'],
    [[{ kid: 'operator:', roles: ['viewer'] }], '"operator:" is not operator: and a name'],
    [[{ kid: 'operator:a' }], '"roles" of the key of "operator:a" must list some of viewer'],
    [[{ kid: 'operator:a', roles: [] }], '"roles" of the key of "operator:a" must list some of viewer'],
    [[{ kid: 'operator:a', roles: ['viewer', 'admin'] }], '"roles" of the key of "operator:a" must list'],
    [
      [
        { kid: 'operator:a', roles: ['viewer'] },
        { kid: 'operator:a', roles: ['operator'] },
      ],
      'keys of "operator:a" have different roles',
    ],
    [[{ kid: 'role:operator' }], '"role:operator" is not the name of a caller'],
  ])('are refused in %j', (keys, message) => {
    expect(() => parseRoles(keySet(...keys))).toThrow(message);
  });
});
