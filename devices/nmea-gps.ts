/**
 * Satellite receivers that talk NMEA 0183, once a second and unasked. Nothing is ever sent to them: the position is
 * answered from what they said last. A receiver that has lost its fix says so by empty fields, and then there is no
 * position, however good the last one was.
 * Source: NMEA 0183, sentences GGA, GSA, RMC and VTG of the talkers GP, GN, GL, GA and any other.
 */
import {
  command,
  defineDevice,
  nmea,
  nullable,
  type PushedFields,
  type SimulatedWorld,
  Type,
  xor8,
} from '#device'

const SILENCE_MS = 5000
/** Of a degree. Four decimals of a minute, which most receivers send, are as fine as six of a degree. */
const POSITION_DECIMALS = 6
/** A tenth of a millimetre: receivers with a base station (`rtk`) send more digits than four. */
const POSITION_DECIMALS_MAX = 9

/** `fix` for the quality in GGA. */
const QUALITIES = [
  'none',
  'gps',
  'dgps',
  'pps',
  'rtk',
  'float_rtk',
  'estimated',
  'manual',
  'simulated',
] as const

type Fix = (typeof QUALITIES)[number]

/** `fix` for the mode in RMC. */
const MODES: ReadonlyMap<string, Fix> = new Map<string, Fix>([
  ['N', 'none'],
  ['A', 'gps'],
  ['D', 'dgps'],
  ['P', 'pps'],
  ['R', 'rtk'],
  ['F', 'float_rtk'],
  ['E', 'estimated'],
  ['M', 'manual'],
  ['S', 'simulated'],
])

const NO_POSITION = { latitude: null, longitude: null, altitude: null } as const
const NO_MOTION = { speed: null, course: null } as const
const NO_FIX = { ...NO_POSITION, ...NO_MOTION, fix: 'none' } as const

/** The data fields of each kind of sentence, the one behind the address first. */
const SENTENCES: ReadonlyMap<string, (data: readonly string[]) => PushedFields | undefined> = new Map([
  ['GGA', fieldsOfGga],
  ['GSA', fieldsOfGsa],
  ['RMC', fieldsOfRmc],
  ['VTG', fieldsOfVtg],
])

/** `$`, a talker of two letters, and the sentence. Proprietary sentences begin with P and have no talker. */
const SENTENCE = /^\$(?!P)[A-Z]{2}([A-Z]{3}),(.*)\*[0-9A-Fa-f]{2}$/

function fieldsOf(frame: Uint8Array): PushedFields | undefined {
  const text = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('latin1')
  const [, kind = '', data = ''] = SENTENCE.exec(text) ?? []
  return SENTENCES.get(kind)?.(data.split(','))
}

/** time, latitude, N/S, longitude, E/W, quality, satellites, HDOP, altitude, M, … */
function fieldsOfGga(data: readonly string[]): PushedFields | undefined {
  const [, latitude, north, longitude, east, quality, satellites, , altitude, unit] = data
  if (unit === undefined) return undefined
  const used = { satellites: countOf(satellites) ?? null }
  const fix = QUALITIES[numberOf(quality) ?? 0] ?? 'none'
  const position = positionOf(latitude, north, longitude, east)
  if (fix === 'none' || !position) return { ...NO_FIX, ...used }
  const height = unit === 'M' ? numberOf(altitude) : undefined
  return { ...position, altitude: height ?? null, fix, ...used }
}

/** time, status, latitude, N/S, longitude, E/W, speed in knots, course, date, variation, E/W, mode */
function fieldsOfRmc(data: readonly string[]): PushedFields | undefined {
  const [, status, latitude, north, longitude, east, speed, course, date, , , mode] = data
  if (date === undefined) return undefined
  // Receivers before NMEA 2.3 give no mode: then the status alone says that there is a fix.
  const fix = mode ? (MODES.get(mode) ?? 'none') : 'gps'
  const position = positionOf(latitude, north, longitude, east)
  if (status !== 'A' || fix === 'none' || !position) return NO_FIX
  return { ...position, speed: numberOf(speed) ?? null, course: numberOf(course) ?? null, fix }
}

/** course, T, magnetic course, M, speed, N, speed, K, mode */
function fieldsOfVtg(data: readonly string[]): PushedFields | undefined {
  const [course, trueNorth, , , speed, knots, , , mode] = data
  if (knots === undefined) return undefined
  if (mode === 'N') return NO_MOTION
  return {
    course: trueNorth === 'T' ? (numberOf(course) ?? null) : null,
    speed: knots === 'N' ? (numberOf(speed) ?? null) : null,
  }
}

/** selection, dimensions (1: no fix), twelve satellites, three dilutions. It says nothing new but of no fix. */
function fieldsOfGsa([, dimensions]: readonly string[]): PushedFields | undefined {
  return dimensions === '1' ? NO_FIX : {}
}

function positionOf(
  latitude: string | undefined,
  north: string | undefined,
  longitude: string | undefined,
  east: string | undefined,
) {
  const ofLatitude = degreesOf(latitude, 2, ['N', 'S'].indexOf(north ?? ''))
  const ofLongitude = degreesOf(longitude, 3, ['E', 'W'].indexOf(east ?? ''))
  return ofLatitude === undefined || ofLongitude === undefined
    ? undefined
    : { latitude: ofLatitude, longitude: ofLongitude }
}

/** `ddmm.mmmm` as degrees; `half`: 0 for north or east, 1 for south or west. */
function degreesOf(text: string | undefined, digits: 2 | 3, half: number): number | undefined {
  const form = digits === 2 ? /^(\d{2})(\d{2}(?:\.(\d+))?)$/ : /^(\d{3})(\d{2}(?:\.(\d+))?)$/
  const [, whole, minutes, fraction = ''] = form.exec(text ?? '') ?? []
  if (half === -1 || whole === undefined || Number(minutes) >= 60) return undefined
  const degrees = Number(whole) + Number(minutes) / 60
  if (degrees > (digits === 2 ? 90 : 180)) return undefined
  const decimals = Math.min(Math.max(fraction.length + 2, POSITION_DECIMALS), POSITION_DECIMALS_MAX)
  // Adding 0 makes -0 a plain 0.
  return Number((half === 1 ? -degrees : degrees).toFixed(decimals)) + 0
}

/** Undefined: the field is empty, or no number. */
function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+(?:\.\d*)?$/.test(text) ? Number(text) : undefined
}

/** Undefined: the field is empty, or counts nothing. */
function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : undefined
}

const Position = Type.Object({
  latitude: nullable(Type.Number()),
  longitude: nullable(Type.Number()),
  altitude: nullable(Type.Number()),
  speed: nullable(Type.Number()),
  course: nullable(Type.Number()),
  satellites: nullable(Type.Integer()),
  fix: Type.String({ enum: [...QUALITIES] }),
})

/** Of what was never said there is no value. */
function positionFrom(pushed: PushedFields) {
  const known = (field: string) => {
    const value = pushed[field]
    return typeof value === 'number' ? value : null
  }
  return {
    latitude: known('latitude'),
    longitude: known('longitude'),
    altitude: known('altitude'),
    speed: known('speed'),
    course: known('course'),
    satellites: known('satellites'),
    fix: QUALITIES.find((quality) => quality === pushed.fix) ?? 'none',
  }
}

const SECOND_MS = 1000
const ROUND_S = 600
const BRIDGE_S = 20
const checksum = xor8({ from: 0 })

function sentence(data: string): string {
  const sum = checksum.seal(Buffer.from(`${data}\0`)).at(-1) ?? 0
  return `$${data}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`
}

/** A boat that circles slowly, and passes under a bridge at the end of each round. */
function simulator(world: SimulatedWorld) {
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0')
  world.every(SECOND_MS, () => {
    const seconds = world.now() / SECOND_MS
    const time = `${two((seconds / 3600) % 24)}${two((seconds / 60) % 60)}${two(seconds % 60)}.00`
    const hasFix = seconds % ROUND_S < ROUND_S - BRIDGE_S
    const turn = (2 * Math.PI * seconds) / ROUND_S
    const latitude = `5222.${String(Math.round(3198 + 400 * Math.sin(turn))).padStart(4, '0')},N`
    const longitude = `00454.${String(Math.round(5784 + 400 * Math.cos(turn))).padStart(4, '0')},E`
    const place = `${latitude},${longitude}`
    const course = ((seconds / ROUND_S) * 360 + 90) % 360
    world.executed('position', { hasFix })
    const text = hasFix
      ? sentence(`GPGGA,${time},${place},1,08,1.1,2.4,M,46.9,M,,`) +
        sentence(`GPRMC,${time},A,${place},1.20,${course.toFixed(2)},010126,,,A`)
      : sentence(`GPGGA,${time},,,,,0,00,,,M,,M,,`) + sentence(`GPRMC,${time},V,,,,,,,010126,,,N`)
    world.send(Buffer.from(text))
  })
  return { framing: nmea(), receive: () => undefined }
}

export default defineDevice({
  type: 'nmea-gps',
  title: 'GPS receiver (NMEA 0183)',
  description: 'Receivers of satellite navigation that send NMEA sentences of their own accord.',
  uart: { baudRate: 9600, dataBits: 8, stopBits: 1, parity: 'none' },
  serial: true,
  framing: nmea(),
  line: { timeoutMs: 1000 },
  readings: {
    latitude: {
      unit: '°',
      deviceClass: null,
      stateClass: 'measurement',
      min: -90,
      max: 90,
      precision: POSITION_DECIMALS,
    },
    longitude: {
      unit: '°',
      deviceClass: null,
      stateClass: 'measurement',
      min: -180,
      max: 180,
      precision: POSITION_DECIMALS,
    },
    altitude: {
      unit: 'm',
      deviceClass: 'distance',
      stateClass: 'measurement',
      min: -1000,
      max: 50_000,
      precision: 1,
    },
    speed: {
      unit: 'kn',
      deviceClass: 'speed',
      stateClass: 'measurement',
      min: 0,
      max: 2000,
      precision: 2,
    },
    course: { unit: '°', deviceClass: null, stateClass: 'measurement', min: 0, max: 360, precision: 1 },
    satellites: { unit: null, deviceClass: null, stateClass: 'measurement', min: 0, max: 100, precision: 0 },
    fix: {},
  },
  tools: {
    get_position: command({
      title: 'Get position',
      description:
        'Where the receiver is: latitude and longitude in degrees (north and east are positive), altitude in m above ' +
        'the sea, speed in knots, course in degrees from true north, the satellites used, and how good the fix is. ' +
        'Without a fix (`none`) the position is null. It is private: tell it only to who asked for it.',
      returns: Position,
      get: positionFrom,
      examples: [
        {
          // capture: SignalK nmea0183-signalk
          reply: { text: '$GPRMC,085412.000,A,5222.3198,N,00454.5784,E,0.58,251.34,030414,,,A*65\r\n' },
          value: {
            latitude: 52.371997,
            longitude: 4.90964,
            altitude: null,
            speed: 0.58,
            course: 251.34,
            satellites: null,
            fix: 'gps',
          },
        },
        {
          // capture: SignalK nmea0183-signalk
          reply: {
            text: '$GPGGA,172814.0,3723.46587704,N,12202.26957864,W,2,6,1.2,18.893,M,-25.669,M,2.0,0031*4F\r\n',
          },
          value: {
            latitude: 37.391097951,
            longitude: -122.037826311,
            altitude: 18.893,
            speed: null,
            course: null,
            satellites: 6,
            fix: 'dgps',
          },
        },
        {
          // capture: pynmea2
          reply: {
            text: '$GPGGA,184353.07,1929.045,S,02410.506,E,1,04,2.6,100.00,M,-33.9,M,,0000*6D\r\n',
          },
          value: {
            latitude: -19.484083,
            longitude: 24.1751,
            altitude: 100,
            speed: null,
            course: null,
            satellites: 4,
            fix: 'gps',
          },
        },
        {
          // capture: pynmea2; its fields are empty
          reply: { text: '$GPGGA,,,,,,,,,,,,,,*56\r\n' },
          value: { ...NO_FIX, satellites: null },
        },
        // The first one, damaged.
        {
          reply: { text: '$GPRMC,085412.000,A,5222.3198,N,00454.5784,E,0.58,251.34,030414,,,A*64\r\n' },
          ignored: true,
        },
      ],
      effect: 'read',
      parallelSafe: true,
    }),
  },
  pushed: { fields: fieldsOf, silenceMs: SILENCE_MS },
  simulator,
})
