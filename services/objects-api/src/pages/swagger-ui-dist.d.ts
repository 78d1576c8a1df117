/** The package brings no types of its own. */
declare module 'swagger-ui-dist' {
  /** The folder that holds its files. */
  export const getAbsoluteFSPath: () => string;
}
