"""The JSON API: endpoints, their rows, and the OpenAPI document that is made from both. It imports the
ground of this room and `pages`.
"""
