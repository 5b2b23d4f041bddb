import { METRICS, type Metric } from '@phds/catalog/metrics';

/** The catalogue of metric types, as Markdown. */
export function toMetricsPage(): string {
  return `# Metric types

The ${METRICS.length} types of readings, also in [/catalog.json](/catalog.json). \`GET /api/v1/health-data/<category>\` with the scope
\`read:health-data:<category>\` returns those of one category. As a parameter, \`type\` ignores case, spaces, \`-\` and \`_\`: \`heart-rate\` finds
Heart Rate.

| Category | Type | [UCUM](https://ucum.org) unit | Summary | Decimals | LOINC | Accepted | Usual range |
|---|---|---|---|---|---|---|---|
${METRICS.map(toRow).join('')}
- **Unit**: never changes for a type.
- **Summary**: *additive* types are summed by hour or day, and their ranges apply to daily totals. *Sleep* types count on the day of waking
  up, all others on that of their start.
- **Decimals** of a reading; averages have one more.
- **LOINC**: where two sources agree on the code.
- **Accepted**: imports refuse other values.
- **Usual range** of healthy adults, inclusive; no diagnosis. Aggregations count what is outside and name the source.
- *ECG*: the average heart rate of the recording, or null. No other \`value\` is null.
- *Blood Pressure* is systolic; the *BP Diastolic* of the same measurement has the same \`timestamp\` and \`source\`.
- *Respiratory Rate* comes from a device; *Respiratory* from a clinician, a health record or by hand.
`;
}

function toRow({ category, name, unit, kind, decimals, loinc, plausible, referenceRange }: Metric): string {
  const { min, max } = plausible;
  const usual = referenceRange === null ? '' : `${referenceRange.low}–${referenceRange.high}`;
  return `| ${category} | ${name} | \`${unit}\` | ${kind} | ${decimals} | ${loinc ?? ''} | ${min}–${max} | ${usual} |\n`;
}
