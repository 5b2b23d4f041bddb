/** One element that stands directly below `HealthData`, with what matters of its children. */
export interface ExportElement {
  readonly name: string;
  /** Without prototype: every name may be looked up. */
  readonly attributes: Readonly<Record<string, string | undefined>>;
  /** Line of the file in which it begins, from 1. */
  readonly line: number;
  /** Position right behind it, in characters. */
  end: number;
  /** `MetadataEntry` HKWasUserEntered is 1. */
  wasUserEntered: boolean;
  /** `MetadataEntry` HKTimeZone; empty when there is none. */
  timeZone: string;
}
