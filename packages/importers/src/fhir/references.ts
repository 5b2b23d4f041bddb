import { conceptText } from './concepts.ts';
import { at, type JsonObject, listAt, textAt } from './json-values.ts';

/** Types that other resources refer to by name: the medication of a request, the reason, the location. */
const NAMED: { readonly [resourceType: string]: (resource: JsonObject) => string } = {
  Medication: (resource) => conceptText(at(resource, 'code')),
  Condition: (resource) => conceptText(at(resource, 'code')),
  Observation: (resource) => conceptText(at(resource, 'code')),
  Procedure: (resource) => conceptText(at(resource, 'code')),
  Location: (resource) => textAt(resource, 'name'),
};
// There are too many observations and procedures to store their names; references to them as a reason usually have a display text.
const INDEXED: ReadonlySet<string> = new Set(['Medication', 'Condition', 'Location']);

// A bundle of hundreds of MB has some ten thousand. The limit allows exports of whole hospitals but not files made to exhaust
// memory.
const MAX_NAMES = 200_000;
const MAX_PATIENTS = 200_000;

/** A reference in R4: relative or absolute URL, optionally with a version. */
const TYPED = /([A-Z][A-Za-z]{1,63})\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[^/]+)?$/;

/**
 * The names and ids by which the resources of a bundle refer to each other. Filled in a first pass, because references may point
 * forward.
 */
export class References {
  readonly #names = new Map<string, string>();
  readonly #idOfUrl = new Map<string, string>();
  readonly #patients = new Set<string>();
  readonly #subjects = new Set<string>();

  /** Adds one resource of the bundle. */
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

  /** The canonical form of a reference: `Type/id` if it can be determined. */
  canonical(reference: string): string {
    const known = this.#idOfUrl.get(reference);
    if (known !== undefined) return known;
    const [, type, id] = TYPED.exec(reference.split('|', 1)[0] ?? '') ?? [];
    return type === undefined ? reference : `${type}/${id}`;
  }

  /** The patients of the bundle: its Patient resources, else those that its resources refer to. */
  patients(): string[] {
    if (this.#patients.size > 0) return [...this.#patients];
    return [...new Set([...this.#subjects].map((subject) => this.canonical(subject)))];
  }

  /** The name of a referenced resource, contained or in the bundle, else the reference's display; empty if there is none. */
  nameOf(reference: unknown, owner: JsonObject): string {
    const target = textAt(reference, 'reference');
    if (target.startsWith('#')) return containedName(owner, target.slice(1)) || textAt(reference, 'display');
    return this.#names.get(this.canonical(target)) ?? textAt(reference, 'display');
  }
}

/** The id of a resource in the bundle: `Type/id`, else its fullUrl; empty if it has neither. */
export function idOf(fullUrl: string, resource: JsonObject): string {
  const [type, id] = [textAt(resource, 'resourceType'), textAt(resource, 'id')];
  return id === '' ? fullUrl : `${type}/${id}`;
}

/** The references of a resource to its patient. Groups, devices and locations are excluded. */
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
