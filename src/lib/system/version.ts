declare const KVUP_VERSION: string | undefined

/** Of kvup itself; written in by the build. */
export const kvupVersion: string = typeof KVUP_VERSION === 'undefined' ? '0.0.0-source' : KVUP_VERSION
