import { conceptText } from './concepts.ts';
import { at, type JsonObject, listAt, textAt } from './json-values.ts';
import { identifiersOf, mayBePatient, type People, subjectsOf, typeAndId } from './subjects.ts';

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

/** Types that take part in appointments or stand in place of a patient. */
const NOT_PATIENTS: ReadonlySet<string> = new Set([
  'Device',
  'Group',
  'HealthcareService',
  'Organization',
  'Practitioner',
  'PractitionerRole',
  'RelatedPerson',
]);

// A bundle of hundreds of MB has some ten thousand. The limit allows exports of whole hospitals but not files made to exhaust
// memory.
const MAX_NAMES = 200_000;
const MAX_PATIENTS = 200_000;

const HTTP = /^https?:\/\//i;
/** The canonical form of a URL or identifier that several patients share, so that it identifies none of them. */
const AMBIGUOUS = 'Patient?ambiguous';

/**
 * The names and ids by which the resources of a bundle refer to each other. Filled in a first pass, because references may point
 * forward.
 */
export class References implements People {
  readonly #names = new Map<string, string>();
  readonly #idOfUrl = new Map<string, string>();
  readonly #patients = new Set<string>();
  readonly #subjects = new Set<string>();
  readonly #urlOfPatient = new Map<string, string>();
  readonly #ambiguous = new Set<string>();
  #isAboutOne: boolean | null = null;

  /** Adds one resource of the bundle. */
  add(fullUrl: string, resource: JsonObject): void {
    const id = idOf(fullUrl, resource);
    const type = textAt(resource, 'resourceType');
    this.#isAboutOne = null;
    if (type === 'Patient' && this.#patients.size < MAX_PATIENTS) this.#addPatient(fullUrl, id, resource);
    if (type === 'Patient' || INDEXED.has(type) || NOT_PATIENTS.has(type)) this.#addUrl(fullUrl, id);
    const name = INDEXED.has(type) ? NAMED[type]?.(resource) : undefined;
    if (name !== undefined && name !== '' && this.#names.size < MAX_NAMES) this.#names.set(id, name);
    for (const subject of subjectsOf(resource)) {
      if (this.#subjects.size < MAX_PATIENTS) this.#subjects.add(subject);
    }
  }

  #addPatient(fullUrl: string, id: string, patient: JsonObject): void {
    const former = this.#urlOfPatient.get(id) ?? fullUrl;
    // Two servers may have the same id for different people, and a Patient without any id equals no other.
    if (id === '' ? this.#patients.has(id) : former !== fullUrl) this.#ambiguous.add(id);
    this.#patients.add(id);
    this.#urlOfPatient.set(id, fullUrl);
    for (const identifier of identifiersOf(patient)) this.#addUrl(identifier, id);
  }

  #addUrl(url: string, id: string): void {
    if (url === '' || url === id) return;
    const known = this.#idOfUrl.get(url);
    if (known !== undefined) this.#idOfUrl.set(url, known === id ? id : AMBIGUOUS);
    else if (this.#idOfUrl.size < MAX_NAMES) this.#idOfUrl.set(url, id);
  }

  /** Whether several Patient resources have this id and may be different people. */
  isAmbiguous(patient: string): boolean {
    return this.#ambiguous.has(patient);
  }

  /** The canonical form of a reference: `Type/id` if it can be determined. */
  canonical(reference: string): string {
    const known = this.#idOfUrl.get(reference);
    if (known !== undefined) return known;
    const typed = typeAndId(reference);
    if (typed === null) return reference;
    const id = `${typed.type}/${typed.id}`;
    return this.#isElsewhere(reference, id) ? reference : id;
  }

  /** Whether an absolute reference leads to another server than that of the patient with the same id. */
  #isElsewhere(reference: string, id: string): boolean {
    const own = this.#urlOfPatient.get(id) ?? '';
    return HTTP.test(own) && HTTP.test(reference) && !reference.startsWith(own);
  }

  get isAboutOne(): boolean {
    this.#isAboutOne ??= new Set([...this.#patients, ...this.#people()]).size <= 1;
    return this.#isAboutOne;
  }

  #people(): string[] {
    return [...this.#subjects].map((subject) => this.canonical(subject)).filter(mayBePatient);
  }

  /** The patients of the bundle: its Patient resources, else those that its resources refer to. */
  patients(): string[] {
    if (this.#patients.size > 0) return [...this.#patients];
    return [...new Set(this.#people())];
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

function containedName(owner: JsonObject, id: string): string {
  const contained = listAt(owner, 'contained').find((candidate) => textAt(candidate, 'id') === id);
  const naming = NAMED[textAt(contained, 'resourceType')];
  return naming === undefined ? '' : naming(contained as JsonObject);
}
