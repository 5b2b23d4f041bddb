import {
  FHIR_PREFIX,
  FHIR_TYPES,
  type FhirType,
  fhirPathOf,
  isFhirType,
} from '@phds/catalog/fhir/resource-types';
import { isFhirId } from '@phds/catalog/fhir/search';
import { type AppError, notFound } from '@phds/service-kit/errors';

/** What a path of the FHIR interface asks for. */
export interface FhirRoute {
  readonly method: 'GET' | 'POST';
  readonly type: FhirType;
  /** For a read; empty for a search. */
  readonly id: string;
  /** For a search in the compartment of a Patient, whose id this is; null for others. */
  readonly patient: string | null;
  /** In metrics, access records, app usage and the log. */
  readonly name: string;
  readonly pattern: string;
}

/** The route of a path; null if it has none. */
export function findFhirRoute(path: string): FhirRoute | null {
  const [type = '', second, third, fourth, ...more] = segmentsOf(path);
  if (!isFhirType(type) || (fourth ?? '_search') !== '_search' || more.length > 0) return null;
  if (second === undefined) return toRoute('GET', type);
  if (third === undefined && second === '_search') return toRoute('POST', type);
  if (!isFhirId(second)) return null;
  if (third === undefined) return toRoute('GET', type, { id: second });
  if (type !== 'Patient' || third === 'Patient' || !isFhirType(third)) return null;
  return toRoute(fourth === undefined ? 'GET' : 'POST', third, { patient: second });
}

function toRoute(
  method: FhirRoute['method'],
  type: FhirType,
  { id = '', patient = null }: Partial<Pick<FhirRoute, 'id' | 'patient'>> = {},
): FhirRoute {
  const pattern = fhirPathOf(type, id !== '');
  return { method, type, id, patient, pattern, name: pattern };
}

function segmentsOf(path: string): string[] {
  return path.slice(FHIR_PREFIX.length + 1).split('/');
}

/** Why a path has no route. */
export function noFhirRoute(path: string): AppError {
  const [type = '', ...others] = segmentsOf(path);
  const all = [type, ...others];
  if (all.some((segment) => segment.startsWith('$'))) return notFound('There are no operations here.');
  if (all.includes('_history')) return notFound('Earlier versions of resources are not kept.');
  if (type === '' || type === '_search')
    return notFound('There are no batches and no searches over all types. Ask for one type.');
  if (isFhirType(type)) return notFound();
  return notFound(`There are no resources of this type. The types are ${FHIR_TYPES.join(', ')}.`);
}
