const PREFIX = /^HK(?:Quantity|Category|Data|Correlation|Document)?Type(?:Identifier)?/;

/** The name of a HealthKit type or element in the report: without its prefix, or `other` if it is not a valid name. */
export function typeNameOf(identifier: string): string {
  const name = identifier.replace(PREFIX, '');
  return /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name) ? name : 'other';
}
