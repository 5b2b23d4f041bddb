/** The number of days of an app's usage that the service returns unless others are asked for. */
export const USAGE_DAYS = 30;
