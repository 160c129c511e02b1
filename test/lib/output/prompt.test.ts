import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { openPrompt } from '../../../src/lib/output/prompt.ts'

const typed = 'kvup upgrade --to v1.8.4'

function person(answer: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
  const stderr = new PassThrough()
  let asked = ''
  stderr.on('data', (chunk: Buffer) => {
    const isFirst = asked === ''
    asked += chunk.toString()
    if (isFirst) setImmediate(() => stdin.write(answer))
  })
  return { stdin, stderr, text: () => asked }
}

describe('a question', () => {
  test('without a terminal is a usage error that names the flag', async () => {
    const prompt = openPrompt({ typed, stdin: new PassThrough(), stderr: new PassThrough(), yes: false })
    await expect(prompt.confirm('Go on?')).rejects.toMatchObject({
      exitCode: 2,
      remedy: ['kvup upgrade --to v1.8.4 --yes     asks nothing'],
    })
  })
  test('manner 34: with --no-input is one on a terminal as well', async () => {
    const { stdin, stderr, text } = person('y\n')
    const prompt = openPrompt({ typed, stdin, stderr, yes: false, input: false })
    await expect(prompt.confirm('Go on?')).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('--no-input'),
      remedy: ['kvup upgrade --to v1.8.4 --yes     asks nothing'],
    })
    expect(text()).toBe('')
  })
  test('is answered by --yes without asking', async () => {
    const stderr = new PassThrough()
    const prompt = openPrompt({ typed, stdin: new PassThrough(), stderr, yes: true })
    expect(await prompt.confirm('Go on?')).toBe(true)
    expect(stderr.readableLength).toBe(0)
  })
  test.each([
    ['y\n', true],
    ['n\n', false],
    ['\n', false],
  ])('answered %j', async (answer, expected) => {
    const { stdin, stderr, text } = person(answer)
    const prompt = openPrompt({ typed, stdin, stderr, yes: false })
    expect(await prompt.confirm('Go on\u001b]0;x\u0007?')).toBe(expected)
    expect(text()).toContain('y/N')
    expect(text()).not.toContain('\u001b]0;x')
  })
  test.each([
    ['prod\n', true],
    ['Prod\n', false],
  ])('that wants a name, answered %j', async (answer, expected) => {
    const { stdin, stderr } = person(answer)
    expect(await openPrompt({ typed, stdin, stderr, yes: false }).confirmName('Sure?', 'prod')).toBe(expected)
  })
  describe('a list', () => {
    const choices = [
      { value: 'downgrade', name: 'downgrade: older\u001b]0;x\u0007' },
      { value: 'evictions', name: 'evictions: VMs shut down' },
    ]
    test.each([
      [' \r', ['downgrade']],
      ['a\r', ['downgrade', 'evictions']],
      ['\r', []],
    ])('answered %j', async (answer, expected) => {
      const { stdin, stderr, text } = person(answer)
      const prompt = openPrompt({ typed, stdin, stderr, yes: false })
      expect(await prompt.chooseSome?.('Which?', choices)).toEqual(expected)
      expect(text()).toContain('evictions: VMs shut down')
      expect(text()).not.toContain('\u001b]0;x')
    })
    test.each([
      ['\r', 'downgrade'],
      ['\u001b[B\r', 'evictions'],
    ])('of which one is taken, answered %j', async (answer, expected) => {
      const { stdin, stderr, text } = person(answer)
      const prompt = openPrompt({ typed, stdin, stderr, yes: false })
      expect(await prompt.chooseOne?.('Which?', choices)).toBe(expected)
      expect(text()).not.toContain('\u001b]0;x')
    })
    test.each([
      ['--yes', { yes: true }, true],
      ['--no-input', { yes: false, input: false }, true],
      ['no terminal', { yes: false }, false],
    ])('with %s nobody is asked, and nothing is chosen', async (_, flags, isTTY) => {
      const { stdin, stderr, text } = person('')
      const prompt = openPrompt({ typed, ...flags, stdin: Object.assign(stdin, { isTTY }), stderr })
      expect([prompt.isAttended, await prompt.chooseSome?.('Which?', choices)]).toEqual([false, undefined])
      expect(await prompt.chooseOne?.('Which?', choices)).toBeUndefined()
      expect(text()).toBe('')
    })
  })
  test('Ctrl-C is exit 130', async () => {
    const { stdin, stderr } = person('\u0003')
    await expect(openPrompt({ typed, stdin, stderr, yes: false }).confirm('Go on?')).rejects.toMatchObject({
      exitCode: 130,
    })
  })
  test('SIGTERM while it is asked is the reason of the signal', async () => {
    const { stdin, stderr } = person('')
    const controller = new AbortController()
    const answer = openPrompt({ typed, stdin, stderr, yes: false, signal: controller.signal }).confirm(
      'Go on?',
    )
    setTimeout(() => controller.abort(new Error('terminated')), 50)
    await expect(answer).rejects.toThrow('terminated')
  })
})
