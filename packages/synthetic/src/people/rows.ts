// Rows of a medical history.
import type { CareRecord, MedicalHistory, Medication } from '../person.ts';

/** The key is the first word of the name. Times are minutes after local midnight; none for as-needed. */
export function medication(
  [name, dosage, condition]: readonly [name: string, dosage: string, condition: string],
  pattern: Medication['pattern'],
  frequency: string,
  ...times: number[]
): Medication {
  const key = name.split(' ')[0]?.toLowerCase() ?? '';
  return { key, name, dosage, frequency, condition, pattern, times };
}

export function appointment(
  inDays: number,
  hour: number,
  title: string,
  specialty: string,
  location: string,
): MedicalHistory['appointments'][number] {
  return { title, inDays, hour, specialty, location };
}

export function careRecord(
  inDays: number,
  resourceType: CareRecord['resourceType'],
  title: string,
  finding: string,
): CareRecord {
  return { resourceType, title, finding, inDays };
}
