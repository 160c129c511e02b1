import written from './secret-forms.json' with { type: 'json' }

/** Each way in which programs, logs and people write down a credential; what stands in « » has to go, all of it. */
export const forms: readonly string[] = written

export const unmarked = (form: string): string => form.replaceAll(/[«»]/gu, '')
/** The words that have to go. */
export const planted = (form: string): readonly string[] =>
  [...form.matchAll(/«([^»]+)»?/gu)]
    .flatMap(([, one = '']) => one.split(/[\s,;"'\\]+/u))
    .filter((one) => one.length > 1)
