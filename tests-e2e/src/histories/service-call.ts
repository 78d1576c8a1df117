/** An answer; undefined if the connection broke, or no answer came in time. */
export interface ServiceAnswer {
  /** 0 if nobody listened, so that nothing was sent. */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Longer than any deadline of the service and any pause of its processes. */
const LONGEST_MS = 70_000;

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
  } catch (error) {
    return isUnreachable(error) ? { status: 0, body: {} } : undefined;
  }
};

const isUnreachable = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  error.cause.code === 'ECONNREFUSED';
