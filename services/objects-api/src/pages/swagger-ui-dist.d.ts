/** The package has no types of its own. Its main module would load the whole page, which is for browsers. */
declare module 'swagger-ui-dist/absolute-path' {
  /** The folder that holds its files. */
  const getAbsoluteFSPath: () => string;
  export = getAbsoluteFSPath;
}
