import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { textsOf } from './texts-of.ts'
import fixture from './words.json' with { type: 'json' }

/**
 * How kvup speaks: one word per thing (docs/glossary.md), short sentences. Every text of the program, its explanations, its reference and its README is held to it;
 * facts, decisions and what a released version said are not.
 */
interface Phrase {
  not: RegExp
  say: string
  /** What the pattern meets and may stay, each with its reason. */
  but?: readonly RegExp[]
}

/** `/source/flags`, as the JSON has it. */
const regexOf = (text: string): RegExp => {
  const end = text.lastIndexOf('/')
  return new RegExp(text.slice(1, end), text.slice(end + 1))
}

const { phrases: asWritten }: { phrases: readonly { not: string; say: string; but?: { may: string }[] }[] } =
  fixture
const phrases: readonly Phrase[] = asWritten.map(({ not, say, but = [] }) => ({
  not: regexOf(not),
  say,
  but: but.map(({ may }) => regexOf(may)),
}))

/** Where a text stands: `file:line`. */
interface Place {
  at: string
  text: string
}

/** What a person reads has a blank in it; one word alone is a name. What the shells run is code. */
const isRead = (text: string): boolean =>
  /\S\s+\S/u.test(text) && !text.startsWith('#!') && !/^# ?\w* completion|^#compdef/u.test(text)

const notPrinted: readonly RegExp[] = [
  // What does not go on screens: the lists of fields of a sealed plan.
  /^(?:kubevirt from to method|flavour mode began) /u,
]

const ofTheProgram: readonly Place[] = globSync('src/**/*.ts')
  .filter((file) => !file.startsWith('src/simulator'))
  .toSorted()
  .flatMap((file) =>
    textsOf(file, readFileSync(file, 'utf8'))
      .filter(({ text }) => isRead(text) && !notPrinted.some((one) => one.test(text)))
      .map(({ text, line }) => ({ at: `${file}:${line}`, text })),
  )

/** The sentences of a JSON file of the program: release data and explanations. */
function sentencesIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return isRead(value) ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(sentencesIn) : []
}

const ofData: readonly Place[] = globSync('src/**/*.json')
  .filter((file) => !file.startsWith('src/simulator'))
  .flatMap((file) => sentencesIn(JSON.parse(readFileSync(file, 'utf8'))).map((text) => ({ at: file, text })))

/** A page in lines, without what is fenced: that is printed, and held where it is made. */
const ofPages: readonly Place[] = [
  'README.md',
  'docs/checks.md',
  ...globSync('docs/{guide,commands}/*.md'),
].flatMap((file) => {
  const text = readFileSync(file, 'utf8').replaceAll(/^```[^]*?^```$/gmu, (fenced) =>
    fenced.replaceAll(/[^\n]/gu, ''),
  )
  return text.split('\n').map((line, index) => ({ at: `${file}:${index + 1}`, text: line }))
})

const everything = [...ofTheProgram, ...ofData, ...ofPages]

function breaking({ not, but = [] }: Phrase, places: readonly Place[]): readonly string[] {
  return places.flatMap(({ at, text }) => {
    const left = but.reduce(
      (rest, one) => rest.replaceAll(new RegExp(one.source, `g${one.flags}`), ' '),
      text,
    )
    return not.test(left) ? [`${at}: ${text.slice(0, 160)}`] : []
  })
}

test('there are texts to hold', () => {
  expect(ofTheProgram.length).toBeGreaterThan(3000)
  expect(ofPages.length).toBeGreaterThan(500)
})

test.each(phrases)('no text says $not, but: $say', (phrase) => {
  expect(breaking(phrase, everything)).toEqual([])
})

/** Commands are no sentences: what is pasted may be as long as it has to be. */
const isCommand = (text: string): boolean =>
  /^(?:\S+=\S+ )*(?:kubectl|kvup|oc|virtctl|opm|curl|crictl|skopeo|etcdctl|echo|export|date|timedatectl|\/usr)\b/u.test(
    text,
  )

/** Where a sentence ends: at a stop before a blank, at a line, and where what a command does stands behind it. */
const sentencesOf = (text: string): readonly string[] =>
  text.split(/(?<=[.!?…])\s+(?=[\p{Lu}…])|\n| {5,}/u).filter((sentence) => !isCommand(sentence.trim()))

const wordsIn = (sentence: string): number =>
  sentence.split(/\s+/u).filter((word) => /[\p{L}\d…]/u.test(word)).length

const longest = 30

test('no sentence that the program prints has more than 30 words', () => {
  const found = [...ofTheProgram, ...ofData].flatMap(({ at, text }) =>
    sentencesOf(text)
      .filter((sentence) => wordsIn(sentence) > longest)
      .map((sentence) => `${at}: ${wordsIn(sentence)} words: ${sentence.slice(0, 160)}`),
  )
  expect(found).toEqual([])
})

const somewhere = (text: string): readonly Place[] => [{ at: 'somewhere', text }]

describe('the guard itself', () => {
  test.each([
    ["say('a loan', `kept: ${held} is held`)", ['a loan', 'kept: … is held']],
    ["// a loan\nconst held = 'not' + ' held' + name", ['not held…']],
    ["import { loan } from './loan file.ts'\ntype A = 'a loan'", []],
    ['`a ${`b ${c} d`} e`', ['a … e', 'b … d']],
  ])('%s', (code, texts) => {
    expect(textsOf('some.ts', code).map(({ text }) => text)).toEqual(texts)
  })

  test('an exception is one place, and not a pass for the text around it', () => {
    const [held] = phrases
    expect(held && breaking(held, somewhere('the finding operator-held'))).toEqual([])
    expect(held && breaking(held, somewhere('operator-held: updates are held'))).toHaveLength(1)
  })

  test('a sentence of 31 words is found, behind a command too', () => {
    const long = `${'word '.repeat(31)}.`
    expect(sentencesOf(`kubectl get pods     ${long}`).map(wordsIn)).toEqual([31])
    expect(sentencesOf(`Short. ${'Word '.repeat(3)}`).map(wordsIn)).toEqual([1, 3])
  })
})
