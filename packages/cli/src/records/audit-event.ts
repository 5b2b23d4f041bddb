import type { ExportedAccess } from '@phds/catalog/access-csv';

const HL7 = 'http://terminology.hl7.org/CodeSystem';

/** Converts one access to a FHIR R4 AuditEvent (https://hl7.org/fhir/R4/auditevent.html). */
export function toAuditEvent(access: ExportedAccess, userId: string): Record<string, unknown> {
  const isReleased = access.outcome === 'released';
  return {
    resourceType: 'AuditEvent',
    id: access.id.replaceAll('_', '-'),
    type: { system: `${HL7}/audit-event-type`, code: 'rest', display: 'RESTful Operation' },
    subtype: [{ system: 'http://hl7.org/fhir/restful-interaction', code: 'search', display: 'search' }],
    action: 'R',
    recorded: access.at,
    // 0 is success, 4 a minor failure: the app was refused.
    outcome: isReleased ? '0' : '4',
    ...(isReleased ? {} : { outcomeDesc: access.reason }),
    agent: [
      {
        who: {
          identifier: { value: access.app },
          ...(access.appName === '' ? {} : { display: access.appName }),
        },
        requestor: true,
      },
    ],
    source: { observer: { display: 'Partner Health Data Service, consent' } },
    entity: [
      {
        what: { identifier: { value: userId } },
        type: { system: `${HL7}/audit-entity-type`, code: '1', display: 'Person' },
        role: { system: `${HL7}/object-role`, code: '1', display: 'Patient' },
      },
      {
        what: { display: access.endpoint },
        type: { system: `${HL7}/audit-entity-type`, code: '2', display: 'System Object' },
        role: { system: `${HL7}/object-role`, code: '24', display: 'Query' },
        detail: toDetails(access),
      },
    ],
  };
}

/** Only existing values, because FHIR does not allow empty strings. */
function toDetails({ grantId, scope, from, to, page, recordCount, requestId }: ExportedAccess) {
  const details = { grantId, scope, from, to, page, recordCount, requestId };
  return Object.entries(details)
    .filter(([, value]) => value !== '')
    .map(([type, value]) => ({ type, valueString: String(value) }));
}
