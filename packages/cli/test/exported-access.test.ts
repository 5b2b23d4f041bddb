import { describe, expect, test } from '@jest/globals';
import type { ExportedAccess } from '@phds/catalog/access-csv';
import { toAuditEvent } from '../src/commands/records-export.ts';

const ACCESS: ExportedAccess = {
  id: 'acc_017f22e279b070008123456789abcdef',
  at: '2026-03-01T12:00:00.000Z',
  app: 'app_1',
  appName: 'Pulse, "the" Diary',
  grantId: 'grt_1',
  scope: 'read:mood',
  endpoint: '/api/v1/mood',
  from: '',
  to: '2026-03-01',
  page: 1,
  recordCount: 20,
  requestId: 'req_1',
  outcome: 'refused',
  reason: 'GRANT_REVOKED',
};

describe('an AuditEvent', () => {
  test('has the elements that FHIR R4 requires: type, recorded, a requestor agent, a source with an observer', () => {
    const event = toAuditEvent(ACCESS, 'ada');
    expect(event).toMatchObject({
      resourceType: 'AuditEvent',
      type: { code: 'rest' },
      action: 'R',
      recorded: ACCESS.at,
      outcome: '4',
      outcomeDesc: 'GRANT_REVOKED',
      agent: [{ requestor: true, who: { identifier: { value: 'app_1' } } }],
      source: { observer: { display: expect.any(String) } },
    });
    // A FHIR id has 1 to 64 of these characters.
    expect(event['id']).toMatch(/^[A-Za-z0-9.-]{1,64}$/);
  });

  test('names the person whose data was accessed, and has no empty value', () => {
    const event = toAuditEvent({ ...ACCESS, appName: '', outcome: 'released', reason: '' }, 'ada');
    expect(event).toMatchObject({ outcome: '0', entity: [{ what: { identifier: { value: 'ada' } } }, {}] });
    expect(JSON.stringify(event)).not.toContain('""');
    expect(event).not.toHaveProperty('outcomeDesc');
  });
});
