import { usageError } from '../system/errors.ts'

/** Runs a parser; its complaint becomes a usage error (exit 2) that quotes the template. */
export function templateError<T>(format: string, template: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'JsonPathError') throw error
    throw usageError('output-template', `${format}=${template}: ${error.message}`, {
      remedy: 'a template looks like \'{range .items[*]}{.metadata.name}{"\\n"}{end}\'',
    })
  }
}
