import { Refused } from '../ingest/importer.ts';
import { at, isObject, type JsonObject, listAt, textAt } from './json-values.ts';

// Modifier elements change what a resource states, up to its opposite. R4 names all of them; a file may also be of an older version.

const VOID: ReadonlyMap<string, string> = new Map([
  ['entered-in-error', 'entered in error'],
  ['nullified', 'entered in error'],
  ['refuted', 'refuted'],
  ['not-done', 'was not done'],
  ['preparation', 'was not done'],
  ['declined', 'was declined'],
  ['cancelled', 'was cancelled'],
  ['abandoned', 'was cancelled'],
  ['revoked', 'was cancelled'],
  ['rejected', 'was rejected'],
]);
const STATUS_MEMBERS = ['status', 'lifecycleStatus', 'docStatus', 'verificationStatus'];

// STU3, then DSTU2.
const OLDER_NEGATIONS = ['notDone', 'notGiven', 'notPerformed', 'wasNotGiven', 'wasNotTaken'];
const NEGATIONS = ['doNotPerform', ...OLDER_NEGATIONS];

/** Throws Refused for a resource that states the opposite of what it contains, or has a modifier element that is not understood. */
export function checkModifiers(resource: JsonObject): void {
  for (const status of STATUS_MEMBERS.flatMap((member) => codesOfStatus(at(resource, member)))) {
    const reason = VOID.get(status.toLowerCase());
    if (reason !== undefined) throw new Refused(reason);
  }
  if (NEGATIONS.some((member) => isTrue(at(resource, member))) || textAt(resource, 'taken') === 'n')
    throw new Refused('states that it was not done, given or taken, or must not be');
  if (isTrue(at(resource, 'isSubpotent'))) throw new Refused('the dose was too weak to count');
  if (textAt(resource, 'actuality') === 'potential') throw new Refused('did not happen');
  if (at(resource, 'implicitRules') !== undefined)
    throw new Refused('has implicitRules, which may change its meaning');
  if (hasModifierExtension(resource))
    throw new Refused('has a modifierExtension, which may change its meaning');
}

/** The codes of a status: a code, as in older versions, or a CodeableConcept. */
function codesOfStatus(status: unknown): string[] {
  if (typeof status === 'string') return [status];
  return [textAt(status, 'text'), ...listAt(status, 'coding').map((coding) => textAt(coding, 'code'))];
}

/** Whether a negating member is set; anything but `false` counts. */
export function isTrue(value: unknown): boolean {
  return value !== undefined && value !== false;
}

function hasModifierExtension(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasModifierExtension);
  if (!isObject(value)) return false;
  return Object.hasOwn(value, 'modifierExtension') || Object.values(value).some(hasModifierExtension);
}

const OLDER_TYPES: ReadonlySet<string> = new Set([
  ...[
    'BodySite',
    'DeviceComponent',
    'DeviceUseRequest',
    'DiagnosticOrder',
    'EligibilityRequest',
    'ImagingManifest',
  ],
  ...['MedicationOrder', 'Order', 'ProcedureRequest', 'ProcessRequest', 'ReferralRequest', 'Sequence'],
]);
const OLDER_MEMBERS = [...OLDER_NEGATIONS, 'taken'];

/** Whether a resource is recognisably one of DSTU2 or STU3. */
export function isOlderThanR4(resource: JsonObject): boolean {
  return (
    OLDER_TYPES.has(textAt(resource, 'resourceType')) ||
    OLDER_MEMBERS.some((member) => Object.hasOwn(resource, member)) ||
    ['clinicalStatus', 'verificationStatus'].some((member) => typeof at(resource, member) === 'string')
  );
}
