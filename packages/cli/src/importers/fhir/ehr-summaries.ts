import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { parseStatedTime } from '../ingest/dates.ts';
import { Refused } from '../ingest/importer.ts';
import { conceptText, conceptTexts, numberText, quantityText, valueText } from './concepts.ts';
import { at, type JsonObject, listAt, numberAt, shorten, textAt } from './json-values.ts';
import { isTrue } from './modifiers.ts';
import { type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';
import type { References } from './references.ts';

/** How to summarise a resource type. Names of people are never included: practitioners and relatives are omitted. */
interface SummaryRule {
  readonly describe: (resource: JsonObject, references: References) => string;
  /** Members with the date, the best first; dots separate nested members. */
  readonly dates: readonly string[];
}

/** The main text followed by details; empty without a main text. */
function sentence(main: string, ...details: readonly string[]): string {
  if (main === '') return '';
  return [main, ...details.filter((detail) => detail !== '')].join('; ');
}

function labelled(label: string, texts: readonly string[]): string {
  const present = texts.filter((text) => text !== '');
  return present.length === 0 ? '' : `${label}: ${present.join(', ')}`;
}

function reasonOf(resource: JsonObject, references: References): string {
  const named = listAt(resource, 'reasonReference').map((reference) =>
    references.nameOf(reference, resource),
  );
  return labelled('reason', [...conceptTexts(listAt(resource, 'reasonCode')), ...named]);
}

/** Rule for a type that is described by its code and optionally a reason. */
function coded(member: string, ...dates: readonly string[]): SummaryRule {
  return {
    describe: (resource, references) =>
      sentence(firstConcept(resource, member), reasonOf(resource, references), noteOf(resource)),
    dates,
  };
}

function firstConcept(resource: JsonObject, member: string): string {
  const value = at(resource, member);
  return conceptText(Array.isArray(value) ? value[0] : value);
}

function noteOf(resource: JsonObject): string {
  return labelled('note', [textAt(resource, 'note', 0, 'text')]);
}

function medicationName(resource: JsonObject, references: References): string {
  return (
    conceptText(at(resource, 'medicationCodeableConcept')) ||
    references.nameOf(at(resource, 'medicationReference'), resource)
  );
}

function describeObservation(resource: JsonObject): string {
  const name = conceptText(at(resource, 'code'));
  const value = valueText(resource);
  const parts = listAt(resource, 'component').map((component) => {
    const [part, partValue] = [conceptText(at(component, 'code')), valueText(component)];
    return part === '' || partValue === '' ? '' : `${part} ${partValue}`;
  });
  const known = [value, ...parts].filter((text) => text !== '');
  const interpretation = labelled('interpretation', conceptTexts(listAt(resource, 'interpretation')));
  if (name === '') return '';
  return sentence(known.length === 0 ? `${name}: no value` : `${name}: ${known.join(', ')}`, interpretation);
}

function describeEncounter(resource: JsonObject, references: References): string {
  const kind =
    textAt(resource, 'class', 'display') || ENCOUNTER_CLASSES.get(textAt(resource, 'class', 'code')) || '';
  return sentence(firstConcept(resource, 'type') || 'Encounter', kind, reasonOf(resource, references));
}

const ENCOUNTER_CLASSES: ReadonlyMap<string, string> = new Map([
  ['AMB', 'ambulatory'],
  ['EMER', 'emergency'],
  ['HH', 'home health'],
  ['IMP', 'inpatient'],
  ['ACUTE', 'inpatient acute'],
  ['NONAC', 'inpatient non-acute'],
  ['OBSENC', 'observation'],
  ['SS', 'short stay'],
  ['VR', 'virtual'],
]);

function describeReport(resource: JsonObject): string {
  const results = listAt(resource, 'result').map((result) => textAt(result, 'display'));
  const conclusion = labelled('conclusion', [textAt(resource, 'conclusion')]);
  return sentence(conceptText(at(resource, 'code')), conclusion, labelled('results', [...new Set(results)]));
}

function describeCarePlan(resource: JsonObject, references: References): string {
  const categories = conceptTexts(listAt(resource, 'category'));
  const details = listAt(resource, 'activity').map((activity) => at(activity, 'detail'));
  // STU3 calls it `prohibited`.
  const wanted = details.filter(
    (detail) => !isTrue(at(detail, 'doNotPerform')) && !isTrue(at(detail, 'prohibited')),
  );
  const activities = wanted.map((detail) => at(detail, 'code'));
  const addressed = listAt(resource, 'addresses').map((reference) => references.nameOf(reference, resource));
  return sentence(
    textAt(resource, 'title') || categories[0] || textAt(resource, 'description') || 'Care plan',
    labelled('for', addressed),
    labelled('activities', conceptTexts(activities)),
  );
}

function describeGoal(resource: JsonObject): string {
  const target = quantityText(at(resource, 'target', 0, 'detailQuantity'));
  const achieved = conceptText(at(resource, 'achievementStatus'));
  const due = textAt(resource, 'target', 0, 'dueDate');
  const details = [labelled('target', [target]), labelled('due', [due]), achieved];
  return sentence(conceptText(at(resource, 'description')), ...details);
}

function describeImaging(resource: JsonObject, references: References): string {
  const series = listAt(resource, 'series');
  const modalities = [...listAt(resource, 'modality'), ...series.map((each) => at(each, 'modality'))];
  const names = modalities.map((coding) => textAt(coding, 'display') || textAt(coding, 'code'));
  const sites = series.map((each) => textAt(each, 'bodySite', 'display'));
  const procedure = conceptText(at(resource, 'procedureCode', 0));
  return sentence(
    textAt(resource, 'description') || procedure || 'Imaging study',
    labelled('modality', [...new Set(names)]),
    labelled('body site', [...new Set(sites)]),
    reasonOf(resource, references),
  );
}

function describeDevice(resource: JsonObject): string {
  const name = conceptText(at(resource, 'type')) || textAt(resource, 'deviceName', 0, 'name');
  return name === '' ? '' : `Device: ${name}`;
}

function describeDocument(resource: JsonObject): string {
  const title = textAt(resource, 'description') || textAt(resource, 'content', 0, 'attachment', 'title');
  const type = conceptText(at(resource, 'type')) || conceptText(at(resource, 'category', 0));
  return title === type ? sentence(title) : sentence(type || title, type === '' ? '' : title);
}

function describeFamilyHistory(resource: JsonObject): string {
  const conditions = listAt(resource, 'condition').map((condition) => at(condition, 'code'));
  const relationship = conceptText(at(resource, 'relationship'));
  const known = labelled(relationship || 'relative', conceptTexts(conditions));
  return known === '' ? '' : `Family history of ${known}`;
}

function describeRisk(resource: JsonObject): string {
  const outcomes = conceptTexts(
    listAt(resource, 'prediction').map((prediction) => at(prediction, 'outcome')),
  );
  return sentence(conceptText(at(resource, 'code')) || 'Risk assessment', labelled('outcome', outcomes));
}

function describeAnswers(resource: JsonObject): string {
  const count = listAt(resource, 'item').length;
  return count === 0 ? '' : `Questionnaire with ${count} answered ${count === 1 ? 'item' : 'items'}`;
}

function describeVaccination(resource: JsonObject): string {
  const dose = numberAt(resource, 'protocolApplied', 0, 'doseNumberPositiveInt');
  return sentence(conceptText(at(resource, 'vaccineCode')), dose === null ? '' : `dose ${dose}`);
}

function supplyText(resource: JsonObject): string {
  const days = numberAt(resource, 'daysSupply', 'value');
  return days === null ? '' : `for ${numberText(days)} days`;
}

const OCCURRENCE = ['occurrenceDateTime', 'occurrencePeriod.start', 'authoredOn'];

/** The R4 resource types with clinical content that have no resource type of their own in our API. */
const SUMMARIES: { readonly [resourceType: string]: SummaryRule } = {
  Observation: {
    describe: describeObservation,
    dates: ['effectiveDateTime', 'effectivePeriod.start', 'effectiveInstant', 'issued'],
  },
  Encounter: { describe: describeEncounter, dates: ['period.start', 'period.end'] },
  Procedure: coded('code', 'performedDateTime', 'performedPeriod.start'),
  Immunization: { describe: describeVaccination, dates: ['occurrenceDateTime', 'recorded'] },
  DiagnosticReport: {
    describe: describeReport,
    dates: ['effectiveDateTime', 'effectivePeriod.start', 'issued'],
  },
  CarePlan: { describe: describeCarePlan, dates: ['period.start', 'created'] },
  CareTeam: {
    describe: (resource, references) =>
      sentence(firstConcept(resource, 'category') || 'Care team', reasonOf(resource, references)),
    dates: ['period.start'],
  },
  Goal: { describe: describeGoal, dates: ['startDate', 'statusDate'] },
  ImagingStudy: { describe: describeImaging, dates: ['started'] },
  Device: { describe: describeDevice, dates: ['manufactureDate'] },
  DeviceUseStatement: coded('bodySite', 'timingDateTime', 'timingPeriod.start', 'recordedOn'),
  DocumentReference: { describe: describeDocument, dates: ['context.period.start', 'date'] },
  MedicationAdministration: {
    describe: (resource, references) =>
      sentence(medicationName(resource, references), 'administered', reasonOf(resource, references)),
    dates: ['effectiveDateTime', 'effectivePeriod.start'],
  },
  MedicationDispense: {
    describe: (resource, references) =>
      sentence(
        medicationName(resource, references),
        'dispensed',
        quantityText(at(resource, 'quantity')),
        supplyText(resource),
      ),
    dates: ['whenHandedOver', 'whenPrepared'],
  },
  ServiceRequest: coded('code', ...OCCURRENCE),
  DeviceRequest: coded('codeCodeableConcept', ...OCCURRENCE),
  SupplyDelivery: {
    describe: (resource) => conceptText(at(resource, 'suppliedItem', 'itemCodeableConcept')),
    dates: OCCURRENCE,
  },
  NutritionOrder: {
    describe: (resource) => labelled('Diet', conceptTexts(listAt(resource, 'oralDiet', 'type'))),
    dates: ['dateTime'],
  },
  FamilyMemberHistory: { describe: describeFamilyHistory, dates: ['date'] },
  ClinicalImpression: {
    describe: (resource) =>
      sentence(conceptText(at(resource, 'code')) || 'Clinical impression', textAt(resource, 'summary')),
    dates: ['effectiveDateTime', 'effectivePeriod.start', 'date'],
  },
  RiskAssessment: { describe: describeRisk, dates: OCCURRENCE },
  EpisodeOfCare: coded('type', 'period.start'),
  AdverseEvent: coded('event', 'date', 'detected', 'recordedDate'),
  DetectedIssue: coded('code', 'identifiedDateTime', 'identifiedPeriod.start'),
  Flag: coded('code', 'period.start'),
  QuestionnaireResponse: { describe: describeAnswers, dates: ['authored'] },
  Specimen: coded('type', 'collection.collectedDateTime', 'collection.collectedPeriod.start', 'receivedTime'),
};

/** Text of at most 500 characters, no raw FHIR. */
const SUMMARY_LENGTH = 500;

/** Whether resources of a type become EHR records, i.e. have clinical content and no resource type of their own in our API. */
export function hasEhrSummary(resourceType: string): boolean {
  return Object.hasOwn(SUMMARIES, resourceType);
}

/** Converts a resource to an EHR record: a summary and a time. Throws Refused if either is missing. */
export function mapEhrRecord(context: MappingContext): readonly Outcome[] {
  const { resource, resourceType } = context;
  const rule = SUMMARIES[resourceType];
  if (rule === undefined) throw new Refused('resource type is unknown');
  const summary = shorten(rule.describe(resource, context.references), SUMMARY_LENGTH);
  if (summary === '') throw new Refused('contains nothing to summarise');
  const value = { resourceType, summary, timestamp: timestampFromMs(momentOf(context, rule)) };
  return [toHealthRecord(context, `ehr-record ${resourceType}`, { case: 'ehrRecord', value })];
}

/** The first available date according to the rule; a year alone means its first day. */
function momentOf({ resource, timeZone }: MappingContext, { dates }: SummaryRule): number {
  const found = dates.map((path) => textAt(resource, ...path.split('.'))).find((text) => text !== '');
  if (found === undefined) throw new Refused('date is missing');
  return parseStatedTime('date', found, timeZone).at;
}
