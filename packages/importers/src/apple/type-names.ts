const PREFIX = /^HK(?:Quantity|Category|Data|Correlation|Document)?Type(?:Identifier)?/;

/** The name under which the report counts a HealthKit type or an element: without its prefix; `other` for what is no name. */
export function typeNameOf(identifier: string): string {
  const name = identifier.replace(PREFIX, '');
  return /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name) ? name : 'other';
}
