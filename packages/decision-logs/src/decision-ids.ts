/** Arrival of a decision's request, read from its id; ISO 8601. Undefined for any other UUID. */
export const timeOfDecisionId = (id: string): string | undefined => {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) return undefined;
  const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return time < LATEST_MS ? new Date(time).toISOString() : undefined;
};

/** The year 10000. */
const LATEST_MS = 253_402_300_800_000;
