import { UnusableFile } from '../ingest/unusable-file.ts';
import type { References } from './references.ts';

const MAX_LISTED = 5;

/**
 * The patient whose data is imported; null if the input names none. Throws UnusableFile if that is ambiguous. `input` names the
 * input in the message, such as `bundle`.
 */
export function choosePatient(references: References, wanted: string | null, input: string): string | null {
  const patients = references.patients();
  if (wanted === null) {
    if (patients.length <= 1) return unambiguous(references, patients[0] ?? null, input);
    const listed = patients.slice(0, MAX_LISTED).join(', ');
    throw new UnusableFile(
      `The ${input} is about ${patients.length} patients (${listed}${patients.length > MAX_LISTED ? ', …' : ''}): choose one with --patient`,
    );
  }
  const spellings = [references.canonical(wanted), `Patient/${wanted}`];
  const found = patients.find((patient) => spellings.includes(patient));
  if (found === undefined) throw new UnusableFile(`The ${input} has no patient ${wanted}`);
  return unambiguous(references, found, input);
}

function unambiguous(references: References, patient: string | null, input: string): string | null {
  if (patient === null || !references.isAmbiguous(patient)) return patient;
  throw new UnusableFile(
    `The ${input} has several patients ${patient === '' ? 'without an id' : `with the id ${patient}`}`,
  );
}
