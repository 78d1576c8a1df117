export const KUBERNETES: string;
export const buildProgram: (name: string) => string | undefined;
export const fetchDefinitions: () => string;
export const fetchSchemas: () => string;
export const fetchTypes: () => string;
export const findGo: () => string | undefined;
export const findHelm: () => string | undefined;
export const run: (command: string, args: readonly string[], options?: object) => { ok: boolean; output: string };
export const must: (command: string, args: readonly string[], options?: object) => string;
