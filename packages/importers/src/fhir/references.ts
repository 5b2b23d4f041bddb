import { conceptText } from './concepts.ts';
import { at, type JsonObject, listAt, textAt } from './json-values.ts';

/** Types whose name other resources borrow: the medicine of a request, the reason, the place. */
const NAMED: { readonly [resourceType: string]: (resource: JsonObject) => string } = {
  Medication: (resource) => conceptText(at(resource, 'code')),
  Condition: (resource) => conceptText(at(resource, 'code')),
  Observation: (resource) => conceptText(at(resource, 'code')),
  Procedure: (resource) => conceptText(at(resource, 'code')),
  Location: (resource) => textAt(resource, 'name'),
};
// Observations and procedures are too many to keep the names of; as a reason they mostly carry a display.
const INDEXED: ReadonlySet<string> = new Set(['Medication', 'Condition', 'Location']);

// A bundle of hundreds of MB holds some ten thousand; the bounds are for exports of whole hospitals, and for files made to
// exhaust memory.
const MAX_NAMES = 200_000;
const MAX_PATIENTS = 200_000;

/** A reference as R4 writes it: relative or absolute URL, with or without a version. */
const TYPED = /([A-Z][A-Za-z]{1,63})\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[^/]+)?$/;

/**
 * What the resources of a bundle call each other. Filled in a first pass over the file, because a reference may point
 * forward. Holds names and ids only.
 */
export class References {
  readonly #names = new Map<string, string>();
  readonly #idOfUrl = new Map<string, string>();
  readonly #patients = new Set<string>();
  readonly #subjects = new Set<string>();

  /** Takes notice of one resource of the bundle. */
  add(fullUrl: string, resource: JsonObject): void {
    const id = idOf(fullUrl, resource);
    const type = textAt(resource, 'resourceType');
    if (type === 'Patient' && this.#patients.size < MAX_PATIENTS) this.#patients.add(id);
    if (type === 'Patient' || INDEXED.has(type)) this.#addUrl(fullUrl, id);
    const name = INDEXED.has(type) ? NAMED[type]?.(resource) : undefined;
    if (name !== undefined && name !== '' && this.#names.size < MAX_NAMES) this.#names.set(id, name);
    for (const subject of subjectsOf(resource)) {
      if (this.#subjects.size < MAX_PATIENTS) this.#subjects.add(subject);
    }
  }

  #addUrl(fullUrl: string, id: string): void {
    if (fullUrl !== '' && fullUrl !== id && this.#idOfUrl.size < MAX_NAMES) this.#idOfUrl.set(fullUrl, id);
  }

  /** One spelling for every way to refer to the same resource: `Type/id` where that can be told. */
  canonical(reference: string): string {
    const known = this.#idOfUrl.get(reference);
    if (known !== undefined) return known;
    const [, type, id] = TYPED.exec(reference.split('|', 1)[0] ?? '') ?? [];
    return type === undefined ? reference : `${type}/${id}`;
  }

  /** The patients that the bundle is about: its Patient resources, else those that its resources refer to. */
  patients(): string[] {
    if (this.#patients.size > 0) return [...this.#patients];
    return [...new Set([...this.#subjects].map((subject) => this.canonical(subject)))];
  }

  /** The name behind a Reference: of a contained resource, of one in the bundle, else its display; empty if none. */
  nameOf(reference: unknown, owner: JsonObject): string {
    const target = textAt(reference, 'reference');
    if (target.startsWith('#')) return containedName(owner, target.slice(1)) || textAt(reference, 'display');
    return this.#names.get(this.canonical(target)) ?? textAt(reference, 'display');
  }
}

/** What the bundle calls a resource: `Type/id`, else its fullUrl; empty when it has neither. */
export function idOf(fullUrl: string, resource: JsonObject): string {
  const [type, id] = [textAt(resource, 'resourceType'), textAt(resource, 'id')];
  return id === '' ? fullUrl : `${type}/${id}`;
}

/** The references by which a resource says whom it is about; groups, devices and places are no patients. */
export function subjectsOf(resource: JsonObject): string[] {
  const actors = listAt(resource, 'participant').map((participant) => at(participant, 'actor'));
  const isAppointment = textAt(resource, 'resourceType') === 'Appointment';
  const candidates = isAppointment ? actors : [at(resource, 'subject'), at(resource, 'patient')];
  return candidates.map((candidate) => textAt(candidate, 'reference')).filter((target) => isPatient(target));
}

function isPatient(target: string): boolean {
  const type = TYPED.exec(target)?.[1];
  if (type !== undefined) return type === 'Patient';
  return target.startsWith('urn:');
}

function containedName(owner: JsonObject, id: string): string {
  const contained = listAt(owner, 'contained').find((candidate) => textAt(candidate, 'id') === id);
  const naming = NAMED[textAt(contained, 'resourceType')];
  return naming === undefined ? '' : naming(contained as JsonObject);
}
