import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Files of one test in a temporary directory. */
export interface BundleFiles extends Disposable {
  /** Writes a bundle of these resources, each with a fullUrl `urn:uuid:<id>`. Returns the path. */
  bundle(resources: readonly object[]): string;
  /** Writes any text or bytes. Returns the path. */
  file(content: string | Uint8Array): string;
}

export function openBundleFiles(): BundleFiles {
  const directory = mkdtempSync(join(tmpdir(), 'phds-cli-'));
  let count = 0;
  const file = (content: string | Uint8Array) => {
    count += 1;
    const path = join(directory, `${count}.json`);
    writeFileSync(path, content);
    return path;
  };
  return {
    file,
    bundle: (resources) => file(JSON.stringify(toBundle(resources), null, 2)),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}

/** A transaction bundle as Synthea writes it. */
export function toBundle(resources: readonly object[]): object {
  const entry = resources.map((resource) => {
    const url = 'id' in resource ? { fullUrl: `urn:uuid:${String(resource.id)}` } : {};
    return { ...url, resource, request: { method: 'POST', url: 'Any' } };
  });
  return { resourceType: 'Bundle', type: 'transaction', entry };
}

/** A CodeableConcept with a LOINC code. */
export function loinc(code: string, text: string) {
  return { coding: [{ system: 'http://loinc.org', code, display: text }], text };
}

/** A CodeableConcept with a SNOMED code. */
export function snomed(code: string, text: string) {
  return { coding: [{ system: 'http://snomed.info/sct', code, display: text }], text };
}

/** A final observation of a quantity. */
export function observation(id: string, code: string, value: number, unit: string, more: object = {}) {
  return {
    resourceType: 'Observation',
    id,
    status: 'final',
    code: loinc(code, `code ${code}`),
    effectiveDateTime: '2019-05-04T10:00:00+02:00',
    valueQuantity: { value, unit: 'any spelling', system: 'http://unitsofmeasure.org', code: unit },
    ...more,
  };
}
