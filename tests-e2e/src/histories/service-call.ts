/** What was answered; undefined where the connection broke, or nothing came in time. */
export interface ServiceAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Longer than any deadline of the service and any pause of its processes. */
const LONGEST_MS = 30_000;

export const callJson = async (
  url: string,
  { method, apiKey, body }: { readonly method: string; readonly apiKey: string; readonly body?: unknown },
): Promise<ServiceAnswer | undefined> => {
  try {
    const response = await fetch(url, {
      method,
      headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  } catch {
    return undefined;
  }
};
