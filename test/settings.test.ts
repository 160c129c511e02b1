import { Command, Option } from 'commander'
import { describe, expect, test } from 'vitest'
import { configPath, fillIn, settledSettings } from '../src/settings.ts'
import fixture from './settings.json' with { type: 'json' }

const home = { HOME: '/home/me' }
const path = '/home/me/.config/kvup/config.yaml'

/** A disk with that one file on it, or with none. */
const disk = (text?: string) => async (file: string) => {
  if (text !== undefined && file === path) return text
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
}

const one = async (name: string, env: Record<string, string>, text?: string) =>
  (await settledSettings({ ...home, ...env }, disk(text))).find((setting) => setting.name === name)

describe('environment over file over default', () => {
  test.each<[Record<string, string>, string | null, object]>(fixture.origins as never)(
    '%j, %j',
    async (env, text, expected) => {
      expect(await one('timeout', env, text ?? undefined)).toEqual({ name: 'timeout', ...expected })
    },
  )
})

test.each(fixture.refused)('the file %j is exit 2 and says where', async (text, why) => {
  await expect(settledSettings(home, disk(text))).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining(why),
  })
  await expect(settledSettings(home, disk(text))).rejects.toThrow(path)
})

test('a variable that cannot be meant is exit 2 and named', async () => {
  await expect(settledSettings({ KVUP_STABLE_FOR: '30' }, disk())).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('KVUP_STABLE_FOR: "30" is not a duration'),
  })
})

const refused = async () => {
  throw Object.assign(new Error('permission denied'), { code: 'EACCES' })
}

test('a file that may not be read is not taken for none', async () => {
  await expect(settledSettings(home, refused)).rejects.toMatchObject({ exitCode: 2, reason: 'config-file' })
})

test.each([
  [{ XDG_CONFIG_HOME: '/x', HOME: '/home/me' }, '/x/kvup/config.yaml'],
  [{ HOME: '/home/me' }, path],
  [{ USERPROFILE: 'C:\\Users\\me' }, 'C:\\Users\\me/.config/kvup/config.yaml'],
  [{}, undefined],
])('%j: the file is %s', (env, expected) => {
  expect(configPath(env)).toBe(expected)
})

test('fills in what was not typed, on the command and above it', async () => {
  const root = new Command('kvup').addOption(new Option('--color <when>').default('auto'))
  root.addOption(new Option('-o, --output <format>').default('table'))
  const upgrade = new Command('upgrade')
    .addOption(new Option('--timeout <duration>').default('60m'))
    .addOption(new Option('--stable-for <duration>').default('30s'))
    .addOption(new Option('--manifest-base <url>'))
    .action(() => {})
  root.addCommand(upgrade).parse(['-o', 'json', 'upgrade', '--timeout', '5m'], { from: 'user' })
  const file = 'timeout: 90m\ncolor: never\noutput: yaml\nmanifest-base: https://mirror.example'
  fillIn(upgrade, await settledSettings({ ...home, KVUP_STABLE_FOR: '0s' }, disk(file)))
  expect(upgrade.optsWithGlobals()).toEqual({
    output: 'json',
    color: 'never',
    timeout: '5m',
    stableFor: '0s',
    manifestBase: 'https://mirror.example',
  })
})
