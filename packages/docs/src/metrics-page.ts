import { CATEGORIES, type CategoryEntry } from '@phds/catalog/categories';
import { METRICS, type Metric } from '@phds/catalog/metrics';

/** The catalogue of metric types, as Markdown. */
export function toMetricsPage(): string {
  return `# Metric types

The ${METRICS.length} types of health readings, with units, codes and ranges. \`GET /catalog.json\` has the same as JSON. This page is generated from the catalog
of the service.

- **Type** is the exact value of \`type\` in answers. The query parameter \`type\` ignores case, spaces, \`-\` and \`_\`: \`heart-rate\` finds Heart Rate.
- **Unit** is [UCUM](https://ucum.org). It never changes for a type: importers convert.
- **Summary**: *average* types are summarised by average, least and greatest reading. *Additive* types are summed to totals by hour or day, and
  their ranges apply to daily totals.
- **Decimals** of a reading. Averages have one more.
- **LOINC** is the code of the type where two sources agree on it.
- **Accepted** values: everything outside is refused when data is imported, so it never reaches an app.
- **Usual range** of healthy adults, inclusive. It is information, not a diagnosis. \`GET /api/v1/aggregations\` counts what is outside.

${CATEGORIES.map(toSection).join('\n')}
## Notes

- *Sleep* types count on the local day on which the person woke up (the end of the interval). All other types count on the day of their start.
- The \`value\` of an *ECG* is the average heart rate of the recording, and null if it was recorded without one. No other \`value\` is null.
- *Blood Pressure* is the systolic value. The diastolic value of the same measurement is a *BP Diastolic* reading with the same \`timestamp\` and
  \`source\`.
- *Respiratory Rate* was measured by a device; *Respiratory* is the same quantity from a clinician, a health record or by hand.
`;
}

function toSection({ slug, title }: CategoryEntry): string {
  const metrics = METRICS.filter(({ category }) => category === slug);
  return `## ${title}

\`GET /api/v1/health-data/${slug}\`, scope \`read:health-data:${slug}\`

| Type | Unit | Summary | Decimals | LOINC | Accepted | Usual range |
|---|---|---|---|---|---|---|
${metrics.map(toRow).join('')}`;
}

function toRow({ name, unit, kind, decimals, loinc, plausible, referenceRange }: Metric): string {
  const { min, max } = plausible;
  const usual =
    referenceRange === null
      ? ''
      : `${referenceRange.low} to ${referenceRange.high} (${referenceRange.source})`;
  return `| ${name} | \`${unit}\` | ${kind} | ${decimals} | ${loinc ?? ''} | ${min} to ${max} | ${usual} |\n`;
}
