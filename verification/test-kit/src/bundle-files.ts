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
