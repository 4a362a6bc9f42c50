"""Reads an XSpace, the format of profiles, without TensorFlow's classes for it."""

import struct


def fields(message):
    """Parses a protocol buffer: lists of numbers and bytes by field number."""
    parsed, position = {}, 0

    def varint():
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            value |= (byte & 0x7F) << shift
            position, shift = position + 1, shift + 7
            if byte < 0x80:
                return value

    while position < len(message):
        tag = varint()
        if tag & 7 == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(tag & 7) or varint()
            value, position = message[position : position + size], position + size
        parsed.setdefault(tag >> 3, []).append(value)
    return parsed


def planes(path):
    """Returns the planes of a file by name, parsed."""
    parsed = map(fields, fields(path.read_bytes())[1])
    return {plane[2][0].decode(): plane for plane in parsed}


def texts(plane, number):
    """Returns the texts of a map of metadata by id."""
    entries = [fields(fields(entry)[2][0]) for entry in plane.get(number, [])]
    return {entry[1][0]: entry.get(2, [b""])[0].decode() for entry in entries}


def stats(parsed, names):
    """Returns the statistics of `parsed`, a list of messages, by name."""
    found = {}
    for stat in map(fields, parsed):
        ((kind, (value,)),) = [(key, value) for key, value in stat.items() if key != 1]
        if kind == 2:
            (value,) = struct.unpack("<d", value)
        elif kind == 4 and value >= 1 << 63:
            value -= 1 << 64
        elif kind == 5:
            value = value.decode()
        elif kind == 7:
            value = names[value]
        found[names[stat[1][0]]] = value
    return found


def plane_stats(plane):
    """Returns the statistics of a plane by name."""
    return stats(plane.get(6, []), texts(plane, 5))


def events(plane):
    """Yields each event of a plane: line, name, nanoseconds since the session's start, duration in nanoseconds, statistics."""
    names, stat_names = texts(plane, 4), texts(plane, 5)
    for line in map(fields, plane.get(3, [])):
        start, line_name = line.get(3, [0])[0], line.get(2, [b""])[0].decode()
        for event in map(fields, line.get(4, [])):
            offset, length = event.get(2, [0])[0], event.get(3, [0])[0]
            yield line_name, names[event[1][0]], start + offset / 1000, length / 1000, stats(event.get(4, []), stat_names)
