/** An element directly below `HealthData`, with the relevant metadata of its children. */
export interface ExportElement {
  readonly name: string;
  /** Has no prototype, so any name can be looked up. */
  readonly attributes: Readonly<Record<string, string | undefined>>;
  /** Line of the file in which the element starts, from 1. */
  readonly line: number;
  /** Position after the element, in characters. */
  end: number;
  /** `MetadataEntry` HKWasUserEntered is 1. */
  wasUserEntered: boolean;
  /** `MetadataEntry` HKTimeZone; empty if absent. */
  timeZone: string;
}
