import { findMetricByName } from '@phds/catalog/metrics';
import { findText, text } from './texts.ts';

/** The name of a type of reading. */
export function typeName(type: string): string {
  const metric = findMetricByName(type);
  return metric === null ? type : text(`type.${metric.key}`);
}

/** The title of a field of the data API. */
export function fieldTitle(field: string): string {
  return findText(`field.${field}`) ?? field;
}

/** The value of a field in words; a value that is not a known code is returned as it is. */
export function valueInWords(field: string, value: string): string {
  return field === 'type' ? typeName(value) : (findText(`${field}.${value}`) ?? value);
}
