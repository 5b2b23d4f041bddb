/** An export with these elements, formatted as the phone writes it. */
export function exportXml(...elements: readonly string[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE HealthData [',
    '<!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout)*)>',
    '<!ATTLIST Record',
    '  type CDATA #REQUIRED',
    ']>',
    '<HealthData locale="en_GB">',
    ' <ExportDate value="2024-06-01 08:10:05 +0200"/>',
    ...elements,
    '</HealthData>',
    '',
  ].join('\n');
}

type Attributes = Readonly<Record<string, string | null>>;

/** A two-minute record in January 2024; null removes an attribute. */
export function recordXml(attributes: Attributes = {}, ...children: readonly string[]): string {
  const all: Attributes = {
    type: 'HKQuantityTypeIdentifierHeartRate',
    sourceName: 'Jo’s Apple Watch',
    sourceVersion: '10.2',
    unit: 'count/min',
    creationDate: '2024-01-05 10:05:00 +0100',
    startDate: '2024-01-05 10:00:00 +0100',
    endDate: '2024-01-05 10:02:00 +0100',
    value: '70',
    ...attributes,
  };
  return element('Record', all, ...children);
}

/** Any element. */
export function element(name: string, attributes: Attributes = {}, ...children: readonly string[]): string {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : ` ${key}="${escapeXml(value)}"`,
  );
  const start = `<${name}${written.join('')}`;
  return children.length === 0 ? `${start}/>` : `${start}>\n${children.join('\n')}\n</${name}>`;
}

export function metadata(key: string, value: string): string {
  return element('MetadataEntry', { key, value });
}

/** The `device` attribute of a sample. */
export function device(
  make: { readonly [Key in 'name' | 'manufacturer' | 'model' | 'hardware' | 'software']?: string },
): string {
  const parts = Object.entries(make).map(([key, value]) => `, ${key}:${value}`);
  return `<<HKDevice: 0x3012772a0>${parts.join('')}>`;
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
